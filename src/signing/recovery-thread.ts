import { workerData } from 'node:worker_threads'
import { loadRecovery, type RecoveryLibrary } from './recovery-library.js'
import { RecoverySlots } from './recovery-slots.js'

/** What the thread needs: the memory that it shares with its owner, and the owner's library. */
export interface RecoveryThreadData {
  readonly memory: SharedArrayBuffer
  readonly library: RecoveryLibrary
}

const { memory, library } = workerData as RecoveryThreadData
new RecoverySlots(memory).help(loadRecovery([library]).recover)
