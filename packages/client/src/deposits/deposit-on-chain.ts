import type { Address, Hex } from 'viem'
import { readNewestBlock, readView } from '../../../protocol/src/node/read-view.js'
import type { Request } from '../../../protocol/src/node/simulate.js'
import type { DepositMode, SignedQuote } from '../../../protocol/src/quotes/quote.js'
import { nonceUse, order } from '../../../protocol/src/settlement/settlement-of-chain.js'
import { balanceOf } from '../../../protocol/src/settlement/token-calls.js'
import { findStateProblems, SPARE_SECONDS } from '../offers/offer-state.js'
import type { SettlementTerms } from '../offers/settlement-terms.js'
import { QuoteVerificationError } from '../offers/verify-quote.js'
import { DepositError, type Found } from './deposit-outcome.js'

/**
 * Reads what the chain has of the deposit of an offer, through the user's node.
 * @param offer with the order id and the deposit address that the contract computes
 * @param wasThere whether the deposit was seen before: then an order that was refunded has had it, and what lies at the address came in time
 */
export function depositOnChain(
  { quote, orderId, depositAddress }: SignedQuote,
  terms: SettlementTerms,
  mode: DepositMode,
  wasThere = false,
) {
  const { client, chainId, settlement } = terms
  const request: Request = client.request
  const isContract = mode === 'CONTRACT'
  /** By how many seconds the chain's time is ahead of the clock, as it was read last. */
  let ahead = 0

  const secondsLeft = () => quote.depositDeadline - ahead - Date.now() / 1000
  const spare = isContract ? 0 : SPARE_SECONDS.ADDRESS
  const isLate = () => secondsLeft() < spare
  /** Until when the wallet may be asked, and a transfer be confirmed, Unix time in seconds. */
  const confirmBy = () => Math.floor(quote.depositDeadline - ahead) - spare
  const tokens = (at?: Hex) => readView(request, quote.inputToken, balanceOf(depositAddress), at)
  const hasBalance = async (payer: Address) =>
    (await readView(request, quote.inputToken, balanceOf(payer))) >= quote.inputAmount

  /**
   * Whether the deposit is there, or cannot come any more. Tokens that came too late, or for a nonce that is used without an
   * order, may be lost. An order that was refunded says nothing of the user's tokens: others can end it.
   */
  async function look(): Promise<Found> {
    const { number, time } = await readNewestBlock(request, chainId)
    ahead = Math.max(0, time - Date.now() / 1000)
    const isOver = time > quote.depositDeadline
    // After the deadline, a node that lags must not say that there is nothing.
    const { state } = await readView(
      request,
      settlement,
      order(chainId, orderId),
      isOver ? number : undefined,
    )
    if (state !== 'NONE') return state === 'REFUNDED' && !wasThere ? 'UNCERTAIN' : 'there'
    if (isContract) return isOver ? 'EXPIRED' : undefined
    // At the block whose time is known: in a later one, they may have come too late.
    if ((await tokens(number)) < quote.inputAmount) return undefined
    const isUsed = () => readView(request, settlement, nonceUse(quote.solver, quote.nonce), number)
    // What was seen in time stays a deposit, whether the solver settles it or not.
    return !wasThere && (secondsLeft() < 0 || (await isUsed())) ? 'UNCERTAIN' : 'there'
  }

  /**
   * Whether the wallet must be asked for the deposit now. Nothing is read after the time is compared.
   * @param last what is to be read last of all, of the wallet
   * @throws DepositError and QuoteVerificationError when it must not be asked any more
   */
  async function isNeeded(last?: () => Promise<void>): Promise<boolean> {
    // Another node behind the same URL may not have the block yet.
    const found = await look().catch(look)
    if (found === 'there') return false
    if (found !== undefined) throw new DepositError(found)
    const problems = await findStateProblems(quote, terms, Number.NEGATIVE_INFINITY, 0)
    // It may have come since the look.
    if (problems.length > 0 && (await look()) === 'there') return false
    await last?.()
    if (isLate()) throw new DepositError(isContract ? 'EXPIRED' : 'TOO_LATE_FOR_TRANSFER')
    if (problems.length > 0) throw new QuoteVerificationError(problems)
    return true
  }

  /** A look that calls `onLate` once, when it is too late for a transfer that the wallet is asked for. */
  function watchTime(lookNow: () => Promise<Found>, onLate: () => void) {
    let isTold = isContract
    return () => {
      if (!isTold && isLate()) {
        isTold = true
        onLate()
      }
      return lookNow()
    }
  }

  /** Whether tokens lie at the deposit address of a transfer, be it too few. */
  const hasTokens = async () => !isContract && (await tokens()) > 0n

  /** Reads what changes when an account sends, and whether it has code: then others may send for it. */
  async function readAccount(account: Address) {
    const [code, count, there] = await Promise.all([
      request({ method: 'eth_getCode', params: [account, 'latest'] }),
      request({ method: 'eth_getTransactionCount', params: [account, 'pending'] }),
      tokens(),
      readNewestBlock(request, chainId),
    ])
    return { hasCode: code !== '0x', sent: `${code} ${count} ${there}` }
  }

  return { look, isNeeded, watchTime, confirmBy, hasTokens, hasBalance, readAccount }
}
