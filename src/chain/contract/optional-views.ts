import type { PublicClient } from 'viem'
import {
  ChainConfigError,
  describeConfigError,
} from '../../../packages/chain/src/contract/chain-config-error.js'
import {
  EMPTY_QUOTE,
  emptyQuoteAddress,
  wrongName,
} from '../../../packages/chain/src/contract/protocol-name.js'
import type { Timer } from '../../../packages/protocol/src/clock.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { findView } from '../../../packages/protocol/src/node/read-view.js'
import type { SettlementTerms, View } from '../../../packages/protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import type { QuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import { USUAL_RESERVATION_BPS } from '../../../packages/protocol/src/solvers/solver.js'
import type { Address } from '../../../packages/protocol/src/values/hex.js'
import { createRetry } from '../../concurrency/retry.js'
import type { ChainContext } from '../context.js'

/**
 * The views that not every settlement contract has. Each is read until the contract has answered it, and now and then where the
 * contract does not have it (docs/decisions.md, D22). Each replica reads them by itself.
 */
export type OptionalViews = Readonly<ReturnType<typeof createOptionalViews>>

interface OptionalView<T = unknown> {
  readonly view: View<T>
  /** Counts when the view cannot be read. */
  readonly careful: T
  readonly whenAbsent: string
  /** What the contract answers, and otherwise what counts in its place; undefined while nothing is known. */
  known?: { readonly by: 'contract' | 'absence' | 'care'; readonly value: T | undefined }
}

/** The time after which the careful values count, and the longest pause between two attempts. */
const MINUTE_MS = 60_000
const ABSENT_AGAIN_MS = 600_000

/**
 * Builds the views of one verified contract.
 * @param hasher hashes quotes by PROTOCOL_NAME
 * @param readAny reads from an endpoint of the chain
 */
export function createOptionalViews(
  { config, protocolName, clock, log }: ChainContext,
  hasher: QuoteHasher,
  readAny: <T>(read: (client: PublicClient) => Promise<T>) => Promise<T>,
) {
  const { chainId, settlement } = config
  const contract = settlementOf(chainId)
  const reservation: OptionalView<bigint> = {
    view: contract.bondReservationBps(),
    careful: USUAL_RESERVATION_BPS,
    whenAbsent: 'offers are not checked against free bonds',
  }
  const minimum: OptionalView<bigint> = {
    view: contract.minOrder(),
    careful: 0n,
    whenAbsent: 'offers are not checked against a minimum output',
  }
  const address: OptionalView<Address> = {
    view: contract.depositAddress(EMPTY_QUOTE, '0x'),
    careful: emptyQuoteAddress(hasher),
    whenAbsent: 'PROTOCOL_NAME cannot be checked',
  }
  const views: readonly OptionalView[] = [reservation, minimum, address]
  let isNameWrong = false
  let failure: unknown
  let timers: readonly Timer[] = []

  function learn(one: OptionalView, by: 'contract' | 'absence' | 'care', value: unknown): void {
    const { view, whenAbsent, known } = one
    const fields = { chainId, protocolName, view: view.name }
    if (by === 'absence' && known?.by !== by)
      log.warn(fields, `the contract has no ${view.name}, so ${whenAbsent}`)
    if (by === 'care')
      log.warn(
        { ...fields, reason: wordsOf(failure) },
        `${view.name} is taken for ${value} until it can be read`,
      )
    if (by === 'contract' && known !== undefined) log.info(fields, `the contract answers ${view.name} now`)
    one.known = { by, value }
    if (one === address && by === 'contract') isNameWrong = false
    updateTerms()
  }

  function updateTerms(): void {
    if (isNameWrong) optional.terms = undefined
    else if (reservation.known !== undefined && minimum.known !== undefined)
      optional.terms = { bondReservationBps: reservation.known.value, minOrder: minimum.known.value }
  }

  /** @throws after all are read. A wrong name leaves no terms, so that no quote is asked for. */
  async function readUnknown({ request }: PublicClient): Promise<void> {
    const unknown = views.filter(({ known }) => known?.by !== 'contract')
    const results = await Promise.allSettled(
      unknown.map(async (one) => {
        const value = await findView(request, settlement, one.view)
        if (one === address && value !== undefined && value !== address.careful)
          throw wrongName(protocolName, chainId, settlement)
        learn(one, value === undefined ? 'absence' : 'contract', value)
      }),
    )
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    const issue = reasons.find((reason) => reason instanceof ChainConfigError)
    failure = issue ?? reasons[0]
    if (issue !== undefined) isNameWrong = true
    updateTerms()
    if (failure !== undefined) throw failure
  }

  const reading = createRetry({
    maxDelayMs: MINUTE_MS,
    clock,
    work: () =>
      readAny(readUnknown).catch((error) => {
        if (error instanceof ChainConfigError)
          log.error(
            { chainId, reason: describeConfigError(error) },
            'the chain is not what the configuration says',
          )
        throw error
      }),
  })

  function giveUp(): void {
    for (const one of views) if (one.known === undefined) learn(one, 'care', one.careful)
  }

  const optional = {
    /** What the contract requires of orders, replaced at each change; undefined until that is read, for a minute at most. */
    terms: undefined as SettlementTerms | undefined,
    /**
     * Reads all once. It does not throw when the node fails.
     * @throws ChainConfigError when the contract hashes quotes by another name than PROTOCOL_NAME
     */
    readOnce: (client: PublicClient): Promise<void> =>
      readUnknown(client).catch((error) => {
        if (error instanceof ChainConfigError) throw error
      }),
    /** Reads on in the background where something is not known. */
    start(): void {
      if (views.every(({ known }) => known?.by === 'contract')) return
      timers = [clock.setTimeout(giveUp, MINUTE_MS), clock.setInterval(reading.run, ABSENT_AGAIN_MS)]
      if (failure !== undefined) reading.run()
    },
    close(): Promise<void> {
      for (const timer of timers) timer.stop()
      return reading.close()
    },
  }
  return optional
}
