import { afterAll } from 'vitest'
import { endProcesses } from './process.js'

afterAll(endProcesses)
