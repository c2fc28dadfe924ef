import { defineConfig } from 'tsup'
import { library } from './build/entries.js'

export default defineConfig({
  // The command and the program of worker threads share the library's chunks; their CommonJS twins come with the format
  // and are named by nobody.
  entry: { ...library, cli: 'src/cli/main.ts', thread: 'src/run/threads/thread.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  // build/types.ts writes the types.
  dts: false,
  clean: true,
  // One copy of everything, so that an error of any entry is an instance of the one KumoError.
  splitting: true,
  // Lets Rollup write the CommonJS chunks. Otherwise sucrase does, which takes `this.#all = …` for an assignment to an
  // export named `all` and overwrites that as well.
  treeshake: true,
  sourcemap: true,
  esbuildOptions(options, { format }) {
    if (format !== 'cjs') return
    options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' }
    options.inject = ['build/import-meta-url.js']
  },
})
