import { defineConfig } from 'tsup'

const library = {
  index: 'src/index.ts',
  conformance: 'src/conformance/index.ts',
  sim: 'src/sim/index.ts',
}

export default defineConfig({
  // The command and the program of worker threads share the library's chunks; their CommonJS twins come with the format
  // and are named by nobody.
  entry: { ...library, cli: 'src/cli/main.ts', thread: 'src/thread.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  // A command has nothing to import, so it needs no types.
  dts: { entry: library },
  clean: true,
  splitting: true,
  sourcemap: true,
  shims: true,
})
