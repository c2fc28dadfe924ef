export * from '../src/sim/svg.js'
