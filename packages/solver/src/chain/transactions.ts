import { type Address, encodeFunctionData, type Hex, keccak256, TransactionReceiptNotFoundError } from 'viem'
import { estimateFeesPerGas, estimateGas } from 'viem/actions'
import type { SolverAccount } from '../solver-options.js'
import type { SolverChain } from './open-chain.js'

/** A transaction that is signed, so that it can be sent again without being carried out twice. */
export interface SignedTransaction {
  readonly hash: Hex
  /** The bytes that nodes take. */
  readonly raw: Hex
  /** Of the account. */
  readonly nonce: number
}

/** The parameters of viem's `encodeFunctionData`, with the address of the contract. */
export type Call = Parameters<typeof encodeFunctionData>[0] & { readonly address: Address }

/** Sends the transactions of an account on one chain. No other program may use the account there. */
export interface TransactionSender {
  /**
   * Signs a transaction and sends it. A call that would revert throws before anything is signed.
   * @param onSigned keeps the transaction before it is sent
   * @throws viem's errors, and those of the account
   */
  send(call: Call, onSigned?: (transaction: SignedTransaction) => void): Promise<SignedTransaction>
  /** Sends a signed transaction again. An error of the node is ignored: it may have the transaction already. */
  sendAgain(transaction: SignedTransaction): Promise<void>
  /** @returns undefined while the transaction is not mined */
  outcome(transaction: SignedTransaction): Promise<'success' | 'reverted' | undefined>
  /** Whether another transaction took the place of one that is not mined. */
  isReplaced(transaction: SignedTransaction): Promise<boolean>
}

/** The state may change between the estimate and the block. */
const GAS_MARGIN = { factor: 12n, divisor: 10n }

/** Builds the sender. @throws Error for an account that cannot sign transactions */
export function createTransactionSender(
  { chainId, client }: SolverChain,
  account: SolverAccount,
): TransactionSender {
  const { address, signTransaction } = account
  if (signTransaction === undefined) throw new Error('the account cannot sign transactions: give `fill`')
  const sign = signTransaction
  let signing: Promise<unknown> = Promise.resolve()
  let nextNonce = 0

  /** One after the other, so that no two transactions take the same nonce. */
  async function signAndSend(
    request: Omit<Parameters<typeof sign>[0], 'nonce'>,
    onSigned: (transaction: SignedTransaction) => void,
  ): Promise<SignedTransaction> {
    const pending = await client.getTransactionCount({ address, blockTag: 'pending' })
    const nonce = Math.max(pending, nextNonce)
    const raw = (await sign({ ...request, nonce } as Parameters<typeof sign>[0])) as Hex
    const transaction = { hash: keccak256(raw), raw, nonce }
    onSigned(transaction)
    try {
      await client.sendRawTransaction({ serializedTransaction: raw })
      nextNonce = nonce + 1
    } catch (error) {
      // The node may have it, or not: its own count decides about the next one.
      nextNonce = 0
      throw error
    }
    return transaction
  }

  return {
    async send(call, onSigned = () => {}) {
      const data = encodeFunctionData(call)
      const [gas, fees] = await Promise.all([
        estimateGas(client, { account: address, to: call.address, data }),
        estimateFeesPerGas(client),
      ])
      const request = {
        chainId,
        to: call.address,
        data,
        type: 'eip1559',
        gas: (gas * GAS_MARGIN.factor) / GAS_MARGIN.divisor,
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      } as const
      const sent = signing.then(() => signAndSend(request, onSigned))
      signing = sent.catch(() => {})
      return sent
    },
    async sendAgain({ raw }) {
      await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => {})
    },
    async outcome({ hash }) {
      try {
        return (await client.getTransactionReceipt({ hash })).status
      } catch (error) {
        if (error instanceof TransactionReceiptNotFoundError) return undefined
        throw error
      }
    },
    async isReplaced({ nonce }) {
      return (await client.getTransactionCount({ address, blockTag: 'latest' })) > nonce
    },
  }
}
