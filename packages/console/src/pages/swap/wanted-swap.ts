import type { Chain } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { DepositMode, OrderType, VerifyMode } from '../../../../../gen/aggregator/v1/quote_pb.js'
import { MAX_UINT256 } from '../../../../protocol/src/field-rules.js'
import type { AuctionRequest } from '../../data/auction/auction-stream.js'
import { isTrusted } from '../../data/tokens/known-token.js'
import { chainIdOfNames, tokenOf } from '../../data/tokens/tokens.js'
import { isAmbiguous, parseAmount, readsWithMoreDecimals } from '../../format/amount.js'
import type { WantedSwap } from '../../wallet/swap-calls.js'
import { amountOf, isMistyped, isUserAddress, type SwapParams } from './swap-params.js'

/** What the form asks for, or why it asks for nothing yet. */
interface WantedSwapOrProblem {
  readonly wanted: WantedSwap | undefined
  /** What the user must do first; empty with a wanted swap. */
  readonly problem: string
}

/** Nobody but the operator's list and the user's own wallet says what an amount of a token is. */
export const UNLISTED =
  'This instance does not list these tokens. Connect a wallet: it reads them from their contracts'

/** Reads the form. @param account of the connected wallet */
export function readWantedSwap(
  { chainId }: Pick<Chain, 'chainId'>,
  params: SwapParams,
  account: string | undefined,
): WantedSwapOrProblem {
  const { sell, buy, exact, mode } = params
  const without = (problem: string) => ({ wanted: undefined, problem })
  if (sell === '' || buy === '') return without('Choose the tokens')
  if (sell.toLowerCase() === buy.toLowerCase()) return without('Choose two different tokens')
  if (![sell, buy].every((token) => isTrusted(tokenOf(chainId, token))))
    return without(
      chainIdOfNames.value !== chainId ? '' : account === undefined ? UNLISTED : 'Reading the tokens',
    )
  const decimals = tokenOf(chainId, exact === 'sell' ? sell : buy)?.decimals
  const text = amountOf(chainId, params)
  const amount = parseAmount(text, decimals)
  if (amount === undefined) return without(amountProblem(text, decimals))
  const user = account ?? (mode === 'address' ? params.user : '')
  if (isMistyped(user)) return without('The address has a typing error: its checksum is wrong')
  if (user !== '' && !isUserAddress(user)) return without('Enter a valid address')
  const wanted: WantedSwap = {
    inputToken: sell,
    outputToken: buy,
    isExactInput: exact === 'sell',
    amount,
    user,
    mode: mode === 'address' ? 'ADDRESS' : 'CONTRACT',
  }
  return { wanted, problem: '' }
}

/** For how long a price must bind when the user has one step left. */
const ONE_STEP_SECONDS = 60

function amountProblem(text: string, decimals: number | undefined): string {
  if (text === '') return 'Enter an amount'
  if (isAmbiguous(text)) return `Write ${text.replace(',', '')} or ${text.replace(',', '.')}`
  if (/^[\s0.,]+$/.test(text) || /^\s*[-\u2212]/.test(text)) return 'Enter an amount above 0'
  if (!readsWithMoreDecimals(text)) return 'Write digits and one point only, such as 1000.5'
  return decimals === undefined ? 'Enter whole units' : `The token has ${decimals} decimals only`
}

/**
 * The request of an auction for a wanted swap with a user. With a connected wallet, the contract checks the best offer, if the
 * instance allows it. A user with one step left needs a minute at most, for which solvers may offer more.
 * @param account of the connected wallet
 * @param onePrompt how much the user deposits with one prompt; undefined while that is not known
 */
export function auctionRequest(
  { chainId, verifyMax, defaultDepositWindow }: Pick<Chain, 'chainId' | 'verifyMax' | 'defaultDepositWindow'>,
  wanted: WantedSwap,
  account: string | undefined,
  onePrompt = 0n,
): AuctionRequest {
  const isOneStep =
    wanted.mode === 'CONTRACT' && onePrompt >= (wanted.isExactInput ? wanted.amount : MAX_UINT256)
  return {
    chainId,
    inputToken: wanted.inputToken,
    outputToken: wanted.outputToken,
    orderType: wanted.isExactInput ? OrderType.EXACT_INPUT : OrderType.EXACT_OUTPUT,
    amount: String(wanted.amount),
    userAddress: wanted.user,
    originChainId: chainId,
    destinationChainId: chainId,
    depositMode: wanted.mode === 'ADDRESS' ? DepositMode.ADDRESS : DepositMode.CONTRACT,
    ...(isOneStep && defaultDepositWindow > ONE_STEP_SECONDS && { minDepositWindow: ONE_STEP_SECONDS }),
    ...(account !== undefined && verifyMax >= VerifyMode.BEST && { verify: VerifyMode.BEST }),
  }
}
