import { type Clock, systemClock } from '../../time.js'
import type { Hook } from '../contract.js'
import { pathOfWorker } from '../worker-path.js'
import { type Graph, type GraphOptions, openGraph } from './graph.js'

/**
 * Keeps the links of all pages in a graph, in a folder of its own. A page that has changed replaces its links, a page that
 * is gone drops them; redirects and URLs that failed are kept too. With a durable store the graph is never behind the crawl.
 * In a module, `{worker}` in the path stands for the number of the worker: each needs a graph of its own.
 *
 * @example
 * await new Crawler().seeds('https://example.com/').use(linkGraph('./graph')).run()
 * const graph = await openGraph('./graph')
 * console.log(await graph.counts(), await graph.in('https://example.com/'))
 * await graph.close()
 */
export function linkGraph(path: string, options: GraphOptions = {}): Hook {
  let graph: Graph | undefined
  const clock: Clock = systemClock()
  return {
    name: `link graph ${path}`,
    async open({ worker = 0 }) {
      graph = await openGraph(pathOfWorker(path, worker), options)
    },
    page({ url, links, status, change, fetchedAt }) {
      if (change === 'gone') return graph!.writer.drop(url, status, 'gone', fetchedAt)
      // Without a body nobody knows the links; they are as they were.
      if (change === 'unchanged') return undefined
      return graph!.writer.add({ url, links, status, seenAt: fetchedAt })
    },
    failure({ url, code, status = 0, final }) {
      if (final) return graph!.writer.drop(url, status, code, clock.now())
    },
    redirect({ url, to, status }) {
      return graph!.writer.redirect(url, to, status, clock.now())
    },
    flush: () => graph?.flush(),
    async close() {
      await graph?.close()
      graph = undefined
    },
  }
}
