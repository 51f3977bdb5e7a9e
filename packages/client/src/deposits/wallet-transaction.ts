import {
  type Account,
  ChainMismatchError,
  type Client,
  type Hex,
  keccak256,
  type Transport,
  toHex,
  type Chain as ViemChain,
} from 'viem'
import { prepareTransactionRequest, signTransaction } from 'viem/actions'
import type { Request } from '../../../protocol/src/node/simulate.js'
import type { Call } from './deposit-calls.js'

/** A viem client of the user's wallet, with its account. */
export type DepositWallet = Client<Transport, ViemChain | undefined, Account>

/** Requests of a wallet. What it was asked once must not be asked again. */
export function requestOf(wallet: DepositWallet): Request {
  return (args) => wallet.request(args, { retryCount: 0 })
}

/** @throws ChainMismatchError of viem when a wallet is on another chain; what the wallet throws */
export async function checkNetwork(request: Request, chainId: number): Promise<void> {
  const currentChainId = Number(await request({ method: 'eth_chainId' }))
  if (currentChainId !== chainId) throw new ChainMismatchError({ chain: chainOf(chainId), currentChainId })
}

/** What a wallet is asked for. */
export interface Prompt<T> {
  /**
   * Asks the wallet, with one request: viem would ask a second time, by another method, after some errors. It throws when
   * the answer is no text, too.
   */
  readonly send: () => Promise<T>
  /** That of a transaction which an account of the app has signed. The answer of the node may be lost. */
  readonly hash?: Hex | undefined
}

/**
 * Makes a transaction ready to be sent. An account of the app estimates and signs it here: what fails has sent nothing.
 * @param call with the chain, and the signal after which no account signs
 * @throws what `checkNetwork` throws; what the wallet or its node throws; the reason of the signal
 */
export async function planTransaction(
  wallet: DepositWallet,
  { to, data, chainId, signal }: Call & { readonly chainId: number; readonly signal: AbortSignal },
): Promise<Prompt<Hex>> {
  const { account } = wallet
  const request = requestOf(wallet)
  const chain = chainOf(chainId)
  await checkNetwork(request, chainId)
  const prompt = (method: string, sent: unknown, hash?: Hex): Prompt<Hex> => ({
    hash,
    async send() {
      const answer = await request({ method, params: [sent] })
      if (typeof answer === 'string' && answer !== '') return answer as Hex
      throw new Error('The wallet has answered without the hash of a transaction.')
    },
  })
  const id = toHex(chainId)
  if (account.type === 'json-rpc')
    return prompt('eth_sendTransaction', { from: account.address, to, data, value: '0x0', chainId: id })
  const prepared = await prepareTransactionRequest(wallet, { account, to, data, chain })
  signal.throwIfAborted()
  const signed = await signTransaction(wallet, { ...prepared, chain } as never)
  return prompt('eth_sendRawTransaction', signed, keccak256(signed))
}

function chainOf(id: number): ViemChain {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  return { id, name: `chain ${id}`, nativeCurrency, rpcUrls: { default: { http: [] } } }
}
