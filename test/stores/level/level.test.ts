/** The store on disk keeps the contracts that the memory store keeps. */

import { level } from 'kumo'
import { storeSuite } from 'kumo/conformance'
import { it } from 'vitest'
import { folder } from './folders.js'

storeSuite({ it, durable: true, create: async () => level(await folder()) })
