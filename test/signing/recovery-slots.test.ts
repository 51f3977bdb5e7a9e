import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { startThread } from '../../src/internals/start-thread.js'
import { recoverKey, recoveryLibrary } from '../../src/signing/recover.js'
import type { SignedDigest } from '../../src/signing/recovery-library.js'
import { RecoverySlots, SLOTS } from '../../src/signing/recovery-slots.js'
import { eventually } from '../support/eventually.js'

const SIGNED: SignedDigest = {
  digest: Buffer.from('ed08ce0e16e3eba9973a79d276f5161e29c825caee6fafc5f18ee90a94c1f64f', 'hex'),
  rs: Buffer.from(
    'ede2eb350a4304533dc81a0fb2fa7a9710c18fc0f13076952981000f9764c67569f71f61924296b2823e041066d15ee5c34c4d458db9b06992023b05e5f2088e',
    'hex',
  ),
  recoveryId: 0,
}
const OTHER: SignedDigest = { ...SIGNED, digest: Buffer.alloc(32, 9) }
const LONG_MS = 10_000

let thread: Worker | undefined
afterEach(() => thread?.terminate())

/** Posts a signature until the helper has begun with it. */
async function untilTaken(slots: RecoverySlots, slot: number, signature: SignedDigest): Promise<void> {
  const isTaken = async () => {
    const wasTaken = !slots.post(slot, signature) && !slots.takeBack(slot)
    slots.wake(1)
    return wasTaken
  }
  await eventually(isTaken, Boolean)
}

describe('a helping thread', () => {
  it('finds the keys of all slots', async () => {
    const slots = new RecoverySlots()
    const data = { memory: slots.memory, library: recoveryLibrary }
    thread = startThread('../../src/signing/recovery-thread', import.meta.url, data)
    await untilTaken(slots, SLOTS - 1, SIGNED)
    expect(slots.collect(SLOTS - 1, LONG_MS)).toEqual({ key: recoverKey(SIGNED) })
    expect(recoverKey(SIGNED)).toBeInstanceOf(Uint8Array)
  })

  it('gets no other signature in its slot while it is suspended, and its late key goes nowhere', async () => {
    const slots = new RecoverySlots()
    const gate = new Int32Array(new SharedArrayBuffer(4))
    thread = startSuspendedHelper(slots.memory, gate)
    await untilTaken(slots, 0, SIGNED)
    expect(slots.collect(0, 1)).toBeUndefined()
    expect(slots.post(0, OTHER)).toBe(false)
    expect(slots.post(1, OTHER)).toBe(true)

    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
    await eventually(async () => slots.post(0, OTHER), Boolean)
    for (const slot of [0, 1]) {
      await untilTaken(slots, slot, OTHER)
      expect(slots.collect(slot, LONG_MS)).toEqual({ key: recoverKey(OTHER) })
    }
  })
})

it('takes back what no helper has begun', () => {
  const slots = new RecoverySlots()
  expect(slots.post(3, SIGNED)).toBe(true)
  expect(slots.post(3, OTHER)).toBe(false)
  expect(slots.takeBack(3)).toBe(true)
  expect(slots.takeBack(3)).toBe(false)
  expect(slots.post(3, OTHER)).toBe(true)
})

/** A helper that the operating system suspends while it recovers its first key, until the gate opens. */
function startSuspendedHelper(memory: SharedArrayBuffer, gate: Int32Array): Worker {
  const sources = ['recovery-slots', 'recovery-library'].map(
    (name) => new URL(`../../src/signing/${name}.ts`, import.meta.url).href,
  )
  const script = `
    const { workerData: { memory, gate, sources } } = require('node:worker_threads')
    import('tsx/esm/api').then(async ({ register }) => {
      register()
      const [{ RecoverySlots }, { loadRecovery }] = await Promise.all(sources.map((source) => import(source)))
      const { recover } = loadRecovery()
      new RecoverySlots(memory).help((...signed) => {
        Atomics.wait(gate, 0, 0)
        return recover(...signed)
      })
    })`
  return new Worker(script, { eval: true, workerData: { memory, gate, sources } })
}
