import { Crawler } from 'kumo'
import { startWeb } from '../test/loopback/web.ts'
const web = await startWeb({ hosts: 1, pagesPerHost: 20000, crossHostShare: 0 })
const t = performance.now(); const c = process.cpuUsage()
const s = await new Crawler().seeds(web.url(0)).concurrency(64).delay(0).perHost({connections: 64, growAt: 1}).run()
const cpu = process.cpuUsage(c)
console.log(s.pages, s.reason, 'pages/s', s.pagesPerSecond|0, 'cpu ms/page', (cpu.user+cpu.system)/1000/s.pages)
console.log(JSON.stringify(s, null, 1))
console.log(await web.report(63))
await web.close()
