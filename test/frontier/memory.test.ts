import { describe, it } from 'vitest'
import { frontierSuite } from '../../src/conformance/frontier.js'
import { memoryFrontier } from '../../src/frontier/memory.js'

describe('memoryFrontier', () => {
  frontierSuite({ it, create: (politeness) => memoryFrontier({ politeness }) })
})
