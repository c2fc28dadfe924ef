/**
 * A crawl whose handlers follow and add, until it is killed or done: [site, folder, workers, life, lists]. It prints what
 * its routes were given, and what `run.add()` resolved for.
 */

import { Crawler, level, type Page } from 'kumo'

const [site = '', folder = '', workers = '0', life = '0', lists = '1'] = process.argv.slice(2)
const ITEMS = 5
const ADDED_IN_A_LIFE = 40

/** The path says which request the page must come from. */
function routed(page: Page, label: string): number[] {
  const { pathname } = new URL(page.url)
  const [, kind, ...numbers] = pathname.split('/')
  const expected = JSON.stringify(numbers.map(Number))
  const isRight =
    kind === label && page.request.label === label && JSON.stringify(page.request.data) === expected
  console.log(isRight ? 'routed' : `WRONG ${label} ${JSON.stringify(page.request)}`, page.url)
  return numbers.map(Number)
}

const hosts = ['127.0.0.1', '127.0.4.1', '127.0.4.2', '127.0.4.3']
const urlOn = (host: string, path: string) => site.replace('127.0.0.1', host) + path

const run = new Crawler()
  .seeds(hosts.map((host) => ({ url: urlOn(host, 'list/0'), label: 'list', data: [0] })))
  .keepOpen()
  .workers(Number(workers))
  .delay('5ms')
  .robots(false)
  .store(level(folder, { commitEvery: 20 }))
  .routes({
    list: (page) => {
      const [n = 0] = routed(page, 'list')
      for (let k = 0; k < ITEMS; k++) page.follow(`/item/${n}/${k}`, { label: 'item', data: [n, k] })
      if (n + 1 < Number(lists)) page.follow(`/list/${n + 1}`, { label: 'list', data: [n + 1], priority: 1 })
    },
    item: async (page) => {
      const [n = 0, k] = routed(page, 'item')
      if (k === 0) await add(new URL(`/added/${n}`, page.url).href, 'added', [n])
    },
    added: (page) => void routed(page, 'added'),
    outside: (page) => void routed(page, 'outside'),
    default: (page) => console.log('WRONG default', page.url),
  })
  .start()

async function add(url: string, label: string, data: number[]): Promise<void> {
  await run.add({ url, label, data })
  console.log('resolved', url)
}

for (let i = 0; i < ADDED_IN_A_LIFE; i++) {
  await add(urlOn(hosts[i % hosts.length]!, `outside/${life}/${i}`), 'outside', [Number(life), i])
}
run.finish()
const { reason } = await run.done
console.log('ended', reason)
