import type { ChainParts } from '../chain/chain-parts.js'
import type { CancelBudget } from '../risk/cancel-budget.js'
import { type EndingLoad, endingShortage } from '../risk/ending-limits.js'
import type { Cancellations } from './cancellations.js'
import { endsAfter, type OpenQuote, type QuoteTimes } from './ending-rules.js'
import type { OpenQuotes } from './open-quotes.js'

/** The times of a quote that is asked for. */
export type AskedTimes = QuoteTimes & { readonly isForAddress: boolean }

const PAUSES = {
  FEES: 'maxCancelFees of this hour might not pay for the end of what is open',
  BALANCE: 'the account cannot pay for the gas of what it has promised',
  TIME: 'a fill window is too short to end all that is open: raise minFillSeconds or maxPayments',
}

/** Builds what says why a further quote may not be signed: all that is open must be ended in time, with what there is. */
export function createEndingPause(
  parts: ChainParts,
  open: Pick<OpenQuotes, 'toCancel'>,
  cancellations: Pick<Cancellations, 'cost'>,
  budget: CancelBudget,
) {
  const { chain, solver, time, ledger, addresses, report } = parts

  /** What is open, and the quote that is asked for. */
  function loadWith(asked: OpenQuote): EndingLoad {
    const quotes = open.toCancel()
    const orders = [...ledger.quotes()].filter(({ deposit }) => deposit !== 'NONE')
    const timesLeft = [asked, ...quotes].map(
      (entry) => entry.quote.fillDeadline - endsAfter(entry, addresses.keepsTokens()),
    )
    return {
      quotes: quotes.length + 1,
      payments: quotes.length + orders.length + 1,
      fillSeconds: timesLeft.reduce((one, other) => Math.min(one, other)),
    }
  }

  /** @returns undefined when it may be signed, or nothing is known of its cost yet */
  return ({ isForAddress, ...quote }: AskedTimes): string | undefined => {
    const gas = ledger.gas()
    if (gas === undefined) return undefined
    const shortage = endingShortage(loadWith({ quote, isForAddress, deposit: 'NONE' }), {
      gas,
      cancellationCost: cancellations.cost(),
      feesLeft: budget.left(),
      // A payment is read, estimated, sent and followed: it loses four calls.
      roundSeconds: time.blockSeconds() + 2 * time.lookSeconds() + chain.pollIntervalMs / 1000,
      atOnce: chain.maxPayments,
    })
    if (shortage === 'FEES') budget.report()
    if (shortage === 'BALANCE')
      report(
        'balance',
        new Error(
          `${solver} has ${gas.balance} wei on chain ${chain.chainId}, too little for the gas to end or pay all that is open: it does not quote`,
        ),
      )
    return shortage && PAUSES[shortage]
  }
}
