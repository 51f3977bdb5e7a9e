import {
  type Abi,
  type Account,
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  ContractFunctionRevertedError,
  getContract,
  parseEventLogs,
  type TransactionReceipt,
  testActions,
} from 'viem'
import { deployedSettlementAbi } from '../../../gen/contracts/deployed-settlement.js'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import {
  createDevnetClient,
  type Devnet,
  devAccounts,
  receiptOf,
} from '../../../packages/cli/src/devnet/deploy.js'

/** The contract with deployed rules has all calls and events of the reference contract, and more. */
const CALLS = deployedSettlementAbi
type Call = ContractFunctionName<typeof CALLS, 'nonpayable'>
type CallArgs<F extends Call> = ContractFunctionArgs<typeof CALLS, 'nonpayable', F>

/**
 * Enough for every call. With a fixed limit, calls that will revert are sent too: the chain itself applies
 * its rules.
 */
const GAS = 2_000_000n
const REVERTS: Abi = [settlementAbi, deployedSettlementAbi, testTokenAbi].flatMap((abi) =>
  (abi as Abi).filter((item) => item.type === 'error'),
)

export type Calls = ReturnType<typeof createCalls>

/** Calls to one settlement contract and to tokens. Each call is sent as a transaction and awaited. */
export function createCalls(devnet: Devnet, settlement: Address) {
  const client = createDevnetClient(devnet, devAccounts[0]).extend(testActions({ mode: 'anvil' }))

  async function transact(from: Account, address: Address, abi: Abi, functionName: string, args: unknown[]) {
    const call = { account: from, address, abi, functionName, args }
    const hash = await createDevnetClient(devnet, from).writeContract({ ...call, gas: GAS, chain: null })
    const receipt = await receiptOf(client, hash)
    if (receipt.status === 'success') return receipt
    await client.simulateContract({ ...call, abi: REVERTS.concat(abi), blockNumber: receipt.blockNumber })
    throw new Error(`${functionName} reverted on the chain, but not in a later call`)
  }

  const mint = (token: Address, to: Address, amount: bigint) =>
    transact(devAccounts[0], token, testTokenAbi as Abi, 'mint', [to, amount])
  const approve = (token: Address, owner: Account, amount: bigint) =>
    transact(owner, token, testTokenAbi as Abi, 'approve', [settlement, amount])

  return {
    client,
    /** The settlement contract's views. */
    view: getContract({ abi: settlementAbi, address: settlement, client }).read,
    transact,
    /** Calls the settlement contract. Throws the decoded error of a revert, see `revertOf`. */
    send: <F extends Call>(from: Account, functionName: F, args: CallArgs<F>) =>
      transact(from, settlement, CALLS as Abi, functionName, [...(args as unknown[])]),
    mint,
    /** Lets the settlement contract pull up to `amount` of the owner's tokens. */
    approve,
    /** Gives an account tokens, which the settlement contract may pull. */
    async fund(token: Address, owner: Account, amount: bigint): Promise<void> {
      await mint(token, owner.address, amount)
      await approve(token, owner, 2n ** 256n - 1n)
    },
    transfer: (token: Address, from: Account, to: Address, amount: bigint) =>
      transact(from, token, testTokenAbi as Abi, 'transfer', [to, amount]),
    balanceOf: (token: Address, holder: Address) =>
      client.readContract({ abi: testTokenAbi, address: token, functionName: 'balanceOf', args: [holder] }),
    /** Mines the next transaction at `timestamp`, in Unix seconds. The clock goes on from there. */
    nextBlockAt: (timestamp: number) => client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) }),
  }
}

/**
 * The custom error of a revert in `action`: its name, then its arguments. Undefined when nothing reverted.
 */
export async function revertOf(action: Promise<unknown>): Promise<readonly unknown[] | undefined> {
  try {
    await action
    return undefined
  } catch (error) {
    const reverted =
      error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError)
    if (!(reverted instanceof ContractFunctionRevertedError) || !reverted.data) throw error
    return [reverted.data.errorName, ...(reverted.data.args ?? [])]
  }
}

/** The settlement contract's events in a receipt, in order: each its name and its members. */
export function eventsOf(receipt: TransactionReceipt) {
  return parseEventLogs({ abi: CALLS, logs: receipt.logs }).map(({ eventName, args }) => ({
    eventName,
    args,
  }))
}
