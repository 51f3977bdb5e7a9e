import type { Replicas } from '../domain/replicas.js'
import type { Logger } from '../telemetry/log.js'
import type { ChainView } from './chain-view.js'
import { ChainMistake, describeMistake } from './introduce.js'
import type { Reading } from './reading.js'
import { untilTimeout } from './until-timeout.js'

/** The office of reading a chain: one replica holds it, all others wait for it. */
export interface ReadersOffice {
  /** The reading, while this replica holds the office. */
  reading(): Reading | undefined
  /**
   * Runs for the office from now on.
   * @returns once the chain has answered or failed, after `timeoutMs` at the latest
   * @throws ChainMistake when it answers and is not what the configuration says
   */
  start(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

interface ReadersOfficeOptions {
  readonly chainId: number
  readonly replicas: Pick<Replicas, 'campaign'>
  readonly createReading: () => Reading
  /** Learns of a chain what somebody must know who does not read it. @throws when the chain does not answer */
  readonly introduce: () => Promise<void>
  /** Called when the office has been won, or lost: then with what was seen last. */
  readonly onChange: (lastView?: ChainView) => void
  readonly log: Logger
}

const RETRY_MS = 1000

/** Builds the office of one chain. */
export function createReadersOffice(options: ReadersOfficeOptions): ReadersOffice {
  const { chainId, replicas, createReading, introduce, onChange, log } = options
  let reading: Reading | undefined
  /** The first look of the reading. */
  let firstLook: Promise<void> | undefined
  let closing: Promise<unknown> = Promise.resolve()
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let timeoutMs = 0
  /** Whether `start` is under way: it throws a mistake, which its caller reports. */
  let isStarting = false
  /** What is wrong with the chain, as it was logged or thrown. */
  let lastMistake: string | undefined

  function onElected(): void {
    if (isClosed) return
    clearTimeout(timer)
    reading = createReading()
    firstLook = reading.start(timeoutMs)
    firstLook.catch(logMistake)
    onChange()
  }

  function onDeposed(): void {
    log.warn({ chainId }, 'the chain is no longer read here')
    const ended = reading
    reading = undefined
    firstLook = undefined
    closing = Promise.all([closing, ended?.close()])
    onChange(ended?.view())
    introduceSoon()
  }

  function introduceSoon(): void {
    if (isClosed || reading !== undefined) return
    clearTimeout(timer)
    timer = setTimeout(() => introduce().catch(onFailure), RETRY_MS)
  }

  async function introduceFirst(): Promise<void> {
    const introduced = introduce()
    introduced.catch(onFailure)
    await untilTimeout(introduced, timeoutMs).catch((error) => {
      if (error instanceof ChainMistake) throw error
    })
  }

  function onFailure(error: unknown): void {
    logMistake(error)
    introduceSoon()
  }

  function logMistake(error: unknown): void {
    const mistake = error instanceof ChainMistake ? describeMistake(error) : undefined
    if (mistake !== undefined && mistake !== lastMistake && !isClosed && !isStarting)
      log.error({ chainId, reason: mistake }, 'the chain is not what the configuration says')
    lastMistake = mistake
  }

  return {
    reading: () => reading,
    async start(firstTimeoutMs) {
      timeoutMs = firstTimeoutMs
      isStarting = true
      try {
        await replicas.campaign(`chain ${chainId}`, { onElected, onDeposed })
        await (firstLook ?? introduceFirst())
      } finally {
        isStarting = false
      }
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await Promise.all([closing, reading?.close()])
    },
  }
}
