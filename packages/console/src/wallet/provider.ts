import {
  ChainReadError,
  readOnePrompt as readOnePromptOf,
  readSettlement,
  readToken as readTokenOf,
  type SettlementTerms,
} from '@quote-aggregator/client'
import {
  type Address,
  createWalletClient,
  custom,
  type EIP1193Provider,
  erc20Abi,
  getAddress,
  type Hex,
  numberToHex,
} from 'viem'
import { getGasPrice, getTransactionReceipt, readContract } from 'viem/actions'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { readView } from '../../../protocol/src/node/read-view.js'
import { nonceUse } from '../../../protocol/src/settlement/settlement-of-chain.js'
import type { Offer } from '../data/auction/auction.js'
import { learnToken, tokenOf } from '../data/tokens/tokens.js'
import { wallet } from './connected-wallet.js'
import { discoverWallets, type WalletOption } from './discover.js'
import { chainOf, createNodeClient } from './node.js'
import { rememberedWallet, rememberWallet } from './remembered.js'

const CODE_OF_UNKNOWN_CHAIN = 4902
let provider: EIP1193Provider | undefined
let stopListening = () => {}

/** Asks a wallet for its account. @throws what the wallet throws, also when the user refuses */
export async function connectWallet(option: WalletOption): Promise<void> {
  await useAccount(option, await option.provider.request({ method: 'eth_requestAccounts' }))
  rememberWallet(option.info.rdns)
}

/** Connects the wallet of the last visit again, if it still shows its account to this page. It asks the user nothing. */
export async function reconnectWallet(): Promise<void> {
  const option = (await discoverWallets()).find(({ info }) => info.rdns === rememberedWallet())
  if (option === undefined || wallet.peek() !== undefined) return
  const accounts = await option.provider.request({ method: 'eth_accounts' })
  if (accounts.length > 0 && wallet.peek() === undefined) await useAccount(option, accounts)
}

/** Forgets the wallet. Wallets keep their own list of sites that may see the account. */
export function disconnectWallet(): void {
  stopListening()
  provider = undefined
  wallet.value = undefined
  rememberWallet(undefined)
}

async function useAccount({ provider: chosen, info: { name } }: WalletOption, [account]: readonly Address[]) {
  if (account === undefined) throw new Error('The wallet has given no account.')
  const chainId = Number(await chosen.request({ method: 'eth_chainId' }))
  stopListening()
  provider = chosen
  wallet.value = { address: getAddress(account), name, chainId }
  const changeAccount = ([next]: readonly Address[]) => {
    const known = wallet.peek()
    wallet.value =
      next === undefined || known === undefined ? undefined : { ...known, address: getAddress(next) }
  }
  const changeChain = (next: string) => {
    const known = wallet.peek()
    if (known !== undefined) wallet.value = { ...known, chainId: Number(next) }
  }
  chosen.on('accountsChanged', changeAccount)
  chosen.on('chainChanged', changeChain)
  stopListening = () => {
    chosen.removeListener('accountsChanged', changeAccount)
    chosen.removeListener('chainChanged', changeChain)
  }
}

/**
 * Asks the wallet to go to a chain, and to add it where the wallet does not know it.
 * @throws when it does not know the chain and the instance names no node for it, or the user refuses
 */
export async function switchChain(chain: Chain): Promise<void> {
  const chainId = Number(chain.chainId)
  const asked = provider
  if (asked === undefined || wallet.peek() === undefined) throw new Error('No wallet is connected.')
  if (wallet.peek()?.chainId === chainId) return
  const change = () =>
    asked.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: numberToHex(chainId) }] })
  try {
    await change()
  } catch (error) {
    if (!isUnknownChain(error)) throw error
    await asked.request({ method: 'wallet_addEthereumChain', params: [chainToAdd(chain)] })
    await change()
  }
  const known = wallet.peek()
  if (provider !== asked || known === undefined) throw new Error('The wallet was disconnected. Try again.')
  wallet.value = { ...known, chainId }
}

/** A wallet on a phone wraps the error of its node. */
function isUnknownChain(error: unknown): boolean {
  const { code, data } = (error ?? {}) as {
    code?: unknown
    data?: { originalError?: { code?: unknown } }
  }
  return code === CODE_OF_UNKNOWN_CHAIN || data?.originalError?.code === CODE_OF_UNKNOWN_CHAIN
}

/** A chain as a wallet adds it (EIP-3085). @throws Error when the instance names no node of it */
function chainToAdd({ chainId, name, publicRpcUrl, explorerUrl }: Chain) {
  if (publicRpcUrl === undefined)
    throw new Error(
      `The wallet does not know ${name} (chain ${chainId}), and this site names no node of it. Add the chain to the wallet, then try again.`,
    )
  return {
    chainId: numberToHex(chainId),
    chainName: name,
    rpcUrls: [publicRpcUrl],
    nativeCurrency: chainOf(Number(chainId)).nativeCurrency,
    ...(explorerUrl !== undefined && { blockExplorerUrls: [explorerUrl] }),
  }
}

/** A client that sends through the user's wallet. What the wallet's node says is read by `nodeClient`. */
export function walletClient() {
  const known = wallet.peek()
  if (provider === undefined || known === undefined) throw new Error('No wallet is connected.')
  return createWalletClient({ account: known.address as Address, transport: custom(provider) })
}

/** A client that reads a chain through the user's wallet, while the wallet is on it. */
export function nodeClient(chainId: number) {
  if (provider === undefined) throw new Error('No wallet is connected.')
  return createNodeClient(provider, chainId)
}

/**
 * Reads symbol and decimals of a token of the wallet's chain, and keeps them. The amounts of a token without decimals are whole.
 * @throws ChainReadError when the wallet's node fails: that says nothing of the token
 */
export async function readToken(address: string): Promise<void> {
  const chainId = wallet.peek()?.chainId ?? 0
  const { symbol, decimals } = await readTokenOf(nodeClient(chainId), address as Address).catch((error) => {
    if (error instanceof ChainReadError && error.failure === 'failed') throw error
    // The list must not add decimals that the contract does not have.
    return { symbol: undefined, decimals: tokenOf(BigInt(chainId), address)?.isListed ? 0 : undefined }
  })
  learnToken(chainId, { address, symbol, decimals, source: 'wallet' })
}

/** Reads the facts of the chain's settlement contract through the wallet. @throws ChainReadError */
export function readTerms({ chainId, settlement, protocolName }: Chain): Promise<SettlementTerms> {
  // The instance also serves this page: it is trusted for the contract's address (docs/decisions.md, D21).
  return readSettlement(nodeClient(Number(chainId)), settlement as Address, { protocolName })
}

/** What the wallet's node asks for a unit of gas, in the smallest unit of the network's coin. */
export const readGasPrice = ({ chainId }: Chain): Promise<bigint> => getGasPrice(nodeClient(Number(chainId)))

/** What transactions have cost, in the smallest unit of the network's coin. */
export async function readGasPaid({ chainId }: Chain, hashes: readonly string[]): Promise<bigint> {
  const client = nodeClient(Number(chainId))
  const receipts = hashes.map((hash) => getTransactionReceipt(client, { hash: hash as Hex }))
  return (await Promise.all(receipts)).reduce((sum, one) => sum + one.gasUsed * one.effectiveGasPrice, 0n)
}

/** What the wallet's node says of a deposit address. */
interface AddressState {
  /** How much of the input is there, in the token's smallest unit. */
  readonly held: bigint
  /** Whether the nonce of the offer is used: the contract has its order, or takes the offer no more. */
  readonly isUsed: boolean
}

/** Reads what is at the deposit address of an offer, and whether the contract still takes it. @throws ChainReadError */
export async function readAddress(chain: Chain, { quote, depositAddress }: Offer): Promise<AddressState> {
  const chainId = Number(chain.chainId)
  const { request } = nodeClient(chainId)
  const nonce = nonceUse(quote?.solver as Address, BigInt(quote?.nonce ?? 0))
  // The nonce last: a deposit that is settled meanwhile has used it.
  const held = await readBalance(chainId, quote?.inputToken ?? '', depositAddress)
  return { held, isUsed: await readView(request, chain.settlement as Address, nonce) }
}

/** Reads how much of a token the user deposits with one prompt, in its smallest unit. */
export function readOnePrompt({ chainId: id, settlement }: Chain, token: string): Promise<bigint> {
  const chainId = Number(id)
  const terms = { client: nodeClient(chainId), chainId, settlement: settlement as Address }
  return readOnePromptOf(walletClient(), token as Address, terms)
}

/** Reads how much of a token of a chain an account has, in the token's smallest unit. @param owner the user when left out */
export function readBalance(chainId: number, token: string, owner?: string): Promise<bigint> {
  return readContract(nodeClient(chainId), {
    address: token as Address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [(owner as Address | undefined) ?? walletClient().account.address],
  })
}
