import type { RecoverKey, SignedDigest } from './recovery-library.js'

/** How many signatures wait at a time. */
export const SLOTS = 64

/** The states of a slot. Only the thread that has changed a state to TAKEN uses the bytes of the slot. */
const FREE = 0
/** A signature waits. */
const POSTED = 1
/** A helper recovers its signer. */
const TAKEN = 2
/** A helper has written what it found. */
const DONE = 3
/** The owner waits no longer. The helper will free the slot. */
const LEFT = 4

/** What is where in the bytes of a slot. */
const DIGEST = [0, 32] as const
const RS = [32, 96] as const
const KEY = [96, 161] as const
const RECOVERY_ID = 161
const HAS_KEY = 162
const SLOT_SIZE = 192

/**
 * Signatures whose signers several threads recover at the same time, in memory that they share. One thread owns them: it posts
 * signatures, takes back what no helper has begun, and collects the rest. All other threads help. No thread ever waits for a
 * lock, so a helper that the operating system suspends costs its owner one signature.
 */
export class RecoverySlots {
  readonly memory: SharedArrayBuffer
  /** The number of calls of `wake`, on which helpers sleep. */
  readonly #calls: Int32Array
  readonly #states: Int32Array
  readonly #bytes: Uint8Array

  /** @param memory of another thread's slots; new memory without it */
  constructor(memory = new SharedArrayBuffer(4 + 4 * SLOTS + SLOT_SIZE * SLOTS)) {
    this.memory = memory
    this.#calls = new Int32Array(memory, 0, 1)
    this.#states = new Int32Array(memory, 4, SLOTS)
    this.#bytes = new Uint8Array(memory, 4 + 4 * SLOTS)
  }

  /** Posts a signature in a slot. @returns false when a helper still uses the slot */
  post(slot: number, { digest, rs, recoveryId }: SignedDigest): boolean {
    if (Atomics.load(this.#states, slot) !== FREE) return false
    const bytes = this.#bytesOf(slot)
    bytes.set(digest, DIGEST[0])
    bytes.set(rs, RS[0])
    bytes[RECOVERY_ID] = recoveryId
    Atomics.store(this.#states, slot, POSTED)
    return true
  }

  /** Wakes helpers. @param count the most to wake */
  wake(count: number): void {
    Atomics.add(this.#calls, 0, 1)
    Atomics.notify(this.#calls, 0, count)
  }

  /** Takes a signature back, and frees its slot. @returns false when a helper has begun */
  takeBack(slot: number): boolean {
    return this.#change(slot, POSTED, FREE)
  }

  /**
   * Waits for what a helper finds.
   * @param longestMs after this time, the helper is left alone with the slot
   * @returns the signer's key, or that there is none; undefined when the helper takes longer
   */
  collect(slot: number, longestMs: number): { readonly key: Uint8Array | undefined } | undefined {
    Atomics.wait(this.#states, slot, TAKEN, longestMs)
    if (this.#change(slot, TAKEN, LEFT) || Atomics.load(this.#states, slot) !== DONE) return undefined
    const bytes = this.#bytesOf(slot)
    const key = bytes[HAS_KEY] === 1 ? bytes.slice(...KEY) : undefined
    Atomics.store(this.#states, slot, FREE)
    return { key }
  }

  /** Recovers signers for the owner as long as the thread lives. It sleeps while nothing is posted. */
  help(recover: RecoverKey): never {
    for (;;) {
      const calls = Atomics.load(this.#calls, 0)
      for (let slot = 0; slot < SLOTS; slot++)
        if (this.#change(slot, POSTED, TAKEN)) this.#recoverIn(slot, recover)
      Atomics.wait(this.#calls, 0, calls)
    }
  }

  #recoverIn(slot: number, recover: RecoverKey): void {
    const bytes = this.#bytesOf(slot)
    // Copies: a library may keep no view of memory that another thread changes.
    const key = recover(bytes.slice(...DIGEST), bytes.slice(...RS), bytes[RECOVERY_ID] ?? 0)
    bytes[HAS_KEY] = key === undefined ? 0 : 1
    if (key !== undefined) bytes.set(key, KEY[0])
    if (this.#change(slot, TAKEN, DONE)) Atomics.notify(this.#states, slot)
    else Atomics.store(this.#states, slot, FREE)
  }

  /** @returns whether the slot had the state `from` */
  #change(slot: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#states, slot, from, to) === from
  }

  #bytesOf(slot: number): Uint8Array {
    return this.#bytes.subarray(slot * SLOT_SIZE, (slot + 1) * SLOT_SIZE)
  }
}
