/** The store on disk keeps the contracts that the memory store keeps. */

import { level } from 'kumo'
import { storeSuite } from 'kumo/conformance'
import { it } from 'vitest'
import { WALKS } from '../../thorough.js'
import { folder } from './folders.js'

storeSuite({ ...WALKS, it, durable: true, create: async () => level(await folder()) })
