/**
 * Loads the CommonJS build as Jest does: each file as a script in a wrapper of its own, where `import()` is
 * refused. Then it crawls a page, with all that is loaded late.
 */

const { readFileSync } = require('node:fs')
const { createServer } = require('node:http')
const { createRequire } = require('node:module')
const { dirname } = require('node:path')
const { Script } = require('node:vm')

const loaded = new Map()

function load(file) {
  const known = loaded.get(file)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(file, module)
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, 'utf8')}\n})`
  const real = createRequire(file)
  const inner = (name) => (name.startsWith('.') ? load(real.resolve(name)) : real(name))
  const wrapper = new Script(source, { filename: file }).runInThisContext()
  wrapper(module.exports, inner, module, file, dirname(file))
  return module.exports
}

const { Crawler, level } = load(require.resolve('kumo'))
const folder = process.argv[2]

const server = createServer((_, response) => {
  response.setHeader('content-type', 'text/html').end('<title>one</title>')
})
server.listen(0, '127.0.0.1', async () => {
  const seed = `http://127.0.0.1:${server.address().port}/`
  const titles = []
  const { reason } = await new Crawler()
    .seeds(seed)
    .cookies()
    .store(level(folder))
    .on('page', ({ document }) => {
      titles.push(document.title)
    })
    .run()
  server.close()
  console.log(JSON.stringify([reason, ...titles]))
})
