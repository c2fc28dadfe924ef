import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^kumo$/, replacement: source('index.ts') },
      { find: /^kumo\/conformance$/, replacement: source('conformance/index.ts') },
      { find: /^kumo\/sim$/, replacement: source('sim/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    typecheck: { enabled: true, include: ['test/**/*.test-d.ts'] },
    testTimeout: 30_000,
    maxWorkers: 2,
  },
})
