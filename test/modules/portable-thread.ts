/** A worker thread that receives options as data and reports its scope, hooks and extractors. */

import { parentPort } from 'node:worker_threads'
import { loadModules } from '../../src/modules/load.js'
import { fromPortable, type PortableOptions } from '../../src/modules/portable.js'
import { scopeTarget } from '../../src/url/scope/scope.js'

parentPort!.once('message', async ({ portable, urls }: { portable: PortableOptions; urls: string[] }) => {
  const given = fromPortable(portable, {
    extractor: ({ closure, name }) => ({ name: `${closure} ${name}`, extract: () => {} }),
    hook: ({ closure, name }) => ({ name: `${closure} ${name}`, page: () => {} }),
  })
  const { scope, seeds, extractors, hooks, store, partitioner } = await loadModules(given)
  const test = scope!.start()
  await test.open?.()
  for (const seed of seeds) test.addSeed?.(String(seed))
  parentPort!.postMessage({
    answers: urls.map((url) => test.test(scopeTarget(url, 1, undefined))),
    extractors: extractors.map(({ name }) => name),
    hooks: hooks.map(({ name }) => name),
    store: store?.name,
    partitions: partitioner?.partitions,
  })
})
