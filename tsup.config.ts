import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    conformance: 'src/conformance/index.ts',
    sim: 'src/sim/index.ts',
  },
  format: ['esm', 'cjs'],
  target: 'node20',
  dts: true,
  clean: true,
  splitting: true,
  sourcemap: true,
  shims: true,
})
