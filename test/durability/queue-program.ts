/**
 * A crawl with a slow hook that has a queue, until it is killed or done: [site, folder, workers, pages]. The hook is a
 * small index: what it is given is in memory until `flush` appends it to a file of its thread.
 */

import { Crawler, fromModule, level } from 'kumo'

const [site = '', folder = '', workers = '0', pages = '0'] = process.argv.slice(2)
const HOSTS = ['127.0.0.1', '127.0.4.1', '127.0.4.2', '127.0.4.3']

const index = fromModule(new URL(`data:text/javascript,${encodeURIComponent(MODULE())}`), {
  with: { folder },
})

const { reason } = await new Crawler()
  .seeds(HOSTS.flatMap((host) => Array.from({ length: Number(pages) }, (_, i) => urlOn(host, i))))
  .workers(Number(workers))
  .concurrency(4)
  .delay('5ms')
  .robots(false)
  .store(level(`${folder}/crawl`, { commitEvery: 20 }))
  .use(index)
  .run()
console.log('ended', reason)

function urlOn(host: string, page: number): string {
  return `${site.replace('127.0.0.1', host)}${page}`
}

/** A module, so that with workers it runs in each of them. */
function MODULE(): string {
  return `
    import { appendFile } from 'node:fs/promises'
    import { threadId } from 'node:worker_threads'
    export default ({ folder }) => {
      let rows = []
      return {
        name: 'index',
        queue: { parallelism: 3, pages: 20 },
        async page({ url, id, attempt }) {
          await new Promise((resolve) => setTimeout(resolve, 10))
          rows.push(url + ' ' + id + ' ' + attempt + '\\n')
        },
        async flush() {
          const taken = rows
          rows = []
          await new Promise((resolve) => setTimeout(resolve, 5))
          await appendFile(folder + '/index-' + threadId, taken.join(''))
        },
      }
    }`
}
