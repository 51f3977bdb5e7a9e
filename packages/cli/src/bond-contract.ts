import { encodeFunctionData, formatUnits, type LocalAccount, toFunctionSelector } from 'viem'
import { estimateGas, sendTransaction } from 'viem/actions'
import { readBondToken } from '../../chain/src/contract/read-bond-token.js'
import { createRpcClient } from '../../chain/src/rpc-client.js'
import { systemClock } from '../../protocol/src/clock.js'
import { wordsOf } from '../../protocol/src/node/node-words.js'
import { findView, readChainId, readView } from '../../protocol/src/node/read-view.js'
import { revertOf } from '../../protocol/src/node/revert.js'
import { settlementOf } from '../../protocol/src/settlement/settlement-of-chain.js'
import { allowance, approveData, balanceOf } from '../../protocol/src/settlement/token-calls.js'
import { toChecksumAddress } from '../../protocol/src/signing/typed-data.js'
import type { Address, Hex } from '../../protocol/src/values/hex.js'
import { toUnits } from './arguments.js'
import { badInput, CommandFailure, refused, unavailable } from './command-failure.js'
import { EXIT } from './exit-codes.js'

/** The bonds of a settlement contract, read and changed by a node. Amounts are in the bond token's smallest unit. */
export type BondContract = Awaited<ReturnType<typeof openBondContract>>

/** How calls are sent. */
interface Sending {
  readonly account: LocalAccount
  /** Gets a line before and after each transaction. */
  readonly say: (line: string) => void
  /** Ends the wait for a transaction. */
  readonly signal: AbortSignal
}

/** The least bond of a registration, where the contract has no view of it. */
const USUAL_MINIMUM = 1_000_000_000n
const POLL_MS = 500

/** The errors with which the reference contract and deployed ones refuse a call, by selector. */
const REFUSALS = new Map<string, string | undefined>(
  [
    'SolverAlreadyRegistered()',
    'SolverAlreadyRegistered(address)',
    'SolverNotRegistered()',
    'SolverNotRegistered(address)',
    'BelowMinimumBond()',
    'BondBelowMinimum(uint256)',
    'InsufficientBond()',
    'InsufficientBond(uint256,uint256)',
    'PendingUnstakeExists()',
    'UnstakeAlreadyRequested()',
    'NoPendingUnstake()',
    'NoUnstakeRequested()',
    'UnstakeNotReady()',
    'UnstakeLocked(uint40)',
  ].map((error) => [toFunctionSelector(error), error.split('(')[0]]),
)

/**
 * Opens the bonds of a contract.
 * @throws CommandFailure when the node does not answer, or the contract has no bonds
 */
export async function openBondContract({ rpcUrl, settlement }: { rpcUrl: string; settlement: Address }) {
  const { client, close } = createRpcClient([rpcUrl])
  const { request } = client
  const chainId = await readChainId(request).catch((error) => {
    throw unavailable(`The node of --rpc-url does not answer: ${wordsOf(error)}`)
  })
  const contract = settlementOf(chainId)
  const bondToken = await readBondToken(client, { chainId, settlement }).catch((error) => {
    throw refused(`--settlement is no settlement contract: ${wordsOf(error)}`)
  })
  const { symbol, decimals } = bondToken
  const token = toChecksumAddress(bondToken.token)
  const minimum = (await findView(request, settlement, contract.minBond())) ?? USUAL_MINIMUM

  const both = (amount: bigint) => `${formatUnits(amount, decimals)} ${symbol} (${amount})`
  const bondOf = (solver: Address) => readView(request, settlement, contract.bond(solver))

  /** The gas of a call. @throws CommandFailure when the contract names why it refuses it */
  async function estimate(from: Address, to: Address, data: Hex): Promise<bigint> {
    return estimateGas(client, { account: from, to, data }).catch((error) => {
      const refusal = REFUSALS.get(revertOf(error)?.data.slice(0, 10) ?? '')
      if (refusal === undefined) throw error
      throw refused(`The contract refuses it: ${refusal}. See bond show --solver ${from}.`)
    })
  }

  async function send(
    { account, say, signal }: Sending,
    to: Address,
    data: Hex,
    what: string,
  ): Promise<void> {
    say(`sending ${what}`)
    // The state may change until it is mined.
    const gas = ((await estimate(account.address, to, data)) * 12n) / 10n
    const hash = await sendTransaction(client, { account, to, data, gas, chain: null })
    say(`waiting for transaction ${hash}`)
    for (;;) {
      const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
      if (receipt?.status === 'success') return
      if (receipt !== undefined) throw refused(`Transaction ${hash} has reverted.`)
      await systemClock.sleep(POLL_MS, signal).catch(() => {
        throw new CommandFailure(EXIT.interrupted, `Interrupted: transaction ${hash} may still be mined.`)
      })
    }
  }

  /** Lets the contract take an amount, and no more. Tokens such as USDT change an allowance only from or to 0. */
  async function approve(sending: Sending, amount: bigint): Promise<void> {
    const owner = sending.account.address
    const balance = await readView(request, token, balanceOf(owner))
    if (balance < amount) throw refused(`${owner} has ${both(balance)}, and not ${both(amount)}.`)
    const allowed = await readView(request, token, allowance(owner, settlement))
    if (allowed >= amount) return
    for (const value of allowed > 0n ? [0n, amount] : [amount]) {
      const data = approveData(settlement, value)
      await send(sending, token, data, `approve of ${both(value)} to ${token}`)
    }
  }

  return {
    chainId,
    bondToken: { address: token, symbol, decimals },
    minimum,
    /** An amount in whole tokens, and in the smallest unit. */
    both,
    bondOf,
    /** Reads an amount of whole tokens. @throws CommandFailure */
    amountIn(text: string): bigint {
      const amount = toUnits(text, decimals)
      if (amount !== undefined) return amount
      throw badInput(`--amount must be in ${symbol} with at most ${decimals} decimals, such as 1000.5.`)
    },
    /**
     * Sends a call, after the approval of an amount that it pays, and waits until it is mined.
     * @throws CommandFailure, with the name of what the contract reverts with
     */
    async change(functionName: string, amount: bigint | undefined, pays: boolean, sending: Sending) {
      const args = amount === undefined ? [] : [amount]
      const data = encodeFunctionData({ abi: contract.BOND_CALLS_ABI, functionName, args })
      const what = amount === undefined ? functionName : `${functionName} of ${both(amount)}`
      try {
        // The contract looks at the tokens last: what it refuses by itself needs no approval.
        await estimate(sending.account.address, settlement, data).catch((error) => {
          if (!pays || error instanceof CommandFailure) throw error
        })
        if (pays && amount !== undefined) await approve(sending, amount)
        await send(sending, settlement, data, what)
      } catch (error) {
        if (error instanceof CommandFailure) throw error
        throw refused(`${functionName} has failed: ${wordsOf(error)}`)
      }
    },
    close,
  }
}
