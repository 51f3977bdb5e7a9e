import type { ContractPlace } from '../../../packages/chain/src/contract/verify-contract.js'
import { RpcError } from '../../../packages/chain/src/json-rpc.js'
import { headerIn } from '../../../packages/protocol/src/node/parse-blocks.js'
import { findView, readView } from '../../../packages/protocol/src/node/read-view.js'
import type { Request } from '../../../packages/protocol/src/node/simulate.js'
import { type OfferVerdict, verdictOfRefusal } from '../../../packages/protocol/src/quotes/offer-state.js'
import type { Offer } from '../../../packages/protocol/src/quotes/quote.js'
import type { DepositVerdict } from '../../../packages/protocol/src/quotes/verification.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import { bondFor, freeBondOf } from '../../../packages/protocol/src/solvers/solver.js'
import { type Hex, toQuantity } from '../../../packages/protocol/src/values/hex.js'
import { verdictOf } from './deposit-errors.js'
import type { VerificationEndpoint } from './verification-endpoint.js'

/** An offer of this or of another instance. Its terms and its signature are those that its caller gives. */
export interface OfferToCheck extends Offer {
  readonly orderId: Hex
  /** Whether the contract would take the signature for the solver's. */
  readonly isSigned: boolean
}

/** What the contract says of an offer. */
export interface OfferCheck {
  readonly verdict: OfferVerdict
  /** The block that was read, and its time in Unix seconds; undefined when no node answered. */
  readonly block?: { readonly number: number; readonly time: number }
}

/** The most calls of one check that are under way at the same time. */
export const CALLS_OF_A_CHECK = 4

/** A block names its transactions. */
const MAX_BLOCK_BYTES = 8 * 1024 * 1024

/**
 * Asks the contract at the newest block of one endpoint about an offer (docs/decisions.md, D33). `deposit` decides. Where it reverts with
 * an error that is not listed, as tokens do that give no data, the contract's views at the same block do.
 * @throws RpcError, ChainReadError or InconsistentAnswerError when the endpoint does not answer; the reason of the signal
 */
export async function checkOffer(
  offer: OfferToCheck,
  { chainId, settlement }: ContractPlace,
  endpoint: VerificationEndpoint,
  signal: AbortSignal,
): Promise<OfferCheck> {
  const contract = settlementOf(chainId)
  const request: Request = ({ method, params }) => endpoint.read(method, params, { signal })
  const newest = await endpoint.read('eth_getBlockByNumber', ['latest', false], {
    signal,
    maxBytes: MAX_BLOCK_BYTES,
  })
  const { number, timestampMs } = headerIn(newest, 'latest')
  const block = { number, time: timestampMs / 1000 }
  const at = toQuantity(number)
  const deposit = await callDeposit(at)
  return { verdict: deposit.kind === 'accepted' ? VALID : await judge(deposit), block }

  async function callDeposit(name: Hex): Promise<DepositVerdict> {
    try {
      return verdictOf(await endpoint.callDeposit(offer, signal, name), offer.quote)
    } catch (error) {
      if (error instanceof RpcError && error.kind === 'too_long')
        return { kind: 'unknown', reason: 'answer_too_long' }
      throw error
    }
  }

  async function judge(deposit: Exclude<DepositVerdict, { kind: 'accepted' }>): Promise<OfferVerdict> {
    const order = await readView(request, settlement, contract.order(chainId, offer.orderId), at)
    if (order.state !== 'NONE') return { state: 'TAKEN' }
    if (deposit.kind === 'rejected') return verdictOfRefusal(deposit.error)
    return deposit.reason === 'node_error' ? { state: 'UNKNOWN', reason: deposit.reason } : judgeByViews()
  }

  async function judgeByViews(): Promise<OfferVerdict> {
    const { solver, nonce, outputAmount, depositDeadline } = offer.quote
    if (block.time > depositDeadline) return { state: 'DEAD', code: 'EXPIRED' }
    if (!offer.isSigned) return { state: 'DEAD', code: 'SIGNATURE_INVALID' }
    const [bond, isNonceUsed, reservationBps = 0n, minimum = 0n] = await Promise.all([
      readView(request, settlement, contract.bond(solver), at),
      readView(request, settlement, contract.nonceUse(solver, nonce), at),
      findView(request, settlement, contract.bondReservationBps(), at),
      findView(request, settlement, contract.minOrder(), at),
    ])
    if (isNonceUsed) return { state: 'DEAD', code: 'NONCE_USED' }
    if (!bond.registered) return verdictOfRefusal('SolverNotRegistered')
    if (outputAmount < minimum) return { state: 'DEAD', code: 'BELOW_MINIMUM_ORDER' }
    if (bondFor(outputAmount, reservationBps) > freeBondOf(bond))
      return { state: 'DEAD', code: 'BOND_TOO_SMALL' }
    return VALID
  }
}

const VALID: OfferVerdict = { state: 'VALID' }
