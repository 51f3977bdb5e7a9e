import type { Replicas } from '../domain/replicas.js'
import type { Logger } from '../telemetry/log.js'
import type { ChainView } from './chain-view.js'
import { ChainMistake, describeMistake } from './introduce.js'
import type { Reading } from './reading.js'
import { summary } from './rpc-error.js'
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
  /** What is wrong with the chain, as it was logged. */
  let lastMistake: string | undefined

  function onElected(): void {
    if (isClosed) return
    clearTimeout(timer)
    reading = createReading()
    firstLook = reading.start(timeoutMs)
    firstLook.catch((error) => log.error({ chainId, reason: summary(error) }, 'the chain cannot be read'))
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

  function onFailure(error: unknown): void {
    const mistake = error instanceof ChainMistake ? describeMistake(error) : undefined
    if (mistake !== undefined && mistake !== lastMistake && !isClosed)
      log.error({ chainId, reason: mistake }, 'the chain is not what the configuration says')
    lastMistake = mistake
    introduceSoon()
  }

  return {
    reading: () => reading,
    async start(firstTimeoutMs) {
      timeoutMs = firstTimeoutMs
      await replicas.campaign(`chain ${chainId}`, { onElected, onDeposed })
      if (firstLook !== undefined) return firstLook
      const introduced = introduce()
      introduced.catch(onFailure)
      await untilTimeout(introduced, timeoutMs).catch((error) => {
        if (error instanceof ChainMistake) throw error
      })
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await Promise.all([closing, reading?.close()])
    },
  }
}
