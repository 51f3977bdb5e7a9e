import { knownChains } from '../../gen/chains.js'
import { ADDRESS, MAX_INTEGER, MAX_PORT } from '../../packages/protocol/src/field-rules.js'
import { DISPLAY_NAME, isDisplayName } from '../../packages/protocol/src/values/display-name.js'
import { type Address, parseAddress } from '../../packages/protocol/src/values/hex.js'
import { parseChainId } from '../../packages/protocol/src/values/text.js'
import { DAY_MS } from '../../packages/protocol/src/values/time.js'
import type { EnvironmentReader } from './environment.js'
import { isChecksumValid, readTokenList, type TokenList } from './token-list.js'
import { CHAIN_DEFAULTS } from './variables.js'

const CHAIN_ID_TEXT = 'a decimal integer of 1 to 2^53-1'
const MUST_BE_URL = 'it must be an http, https, ws or wss URL'

/** A chain that the instance serves. */
export interface ChainConfig {
  readonly chainId: number
  /** JSON-RPC endpoints, http or ws, tried in order. */
  readonly rpcUrls: readonly string[]
  readonly settlement: Address
  readonly pollIntervalMs: number
  /** First block whose events are read when no position is stored; undefined starts at the head. */
  readonly startBlock: number | undefined
  /** How many blocks must follow an event's block before the event is published. */
  readonly confirmations: number
  /** How far below the head a block is read again when the node could not prove its logs complete; 0 reads none again. */
  readonly recheckBlocks: number
  /** Chains of the output that quotes may have, including the chain itself. */
  readonly destinationChains: readonly number[]
  /** For people, such as `Base`. */
  readonly name: string
  readonly explorerUrl: string | undefined
  /** Of a node, for wallets that do not know the chain. */
  readonly publicRpcUrl?: string | undefined
  /** The tokens that the operator has checked. */
  readonly tokenList: TokenList
}

/** Reads the list of served chains, and the variables of each chain. */
export function readChains(env: EnvironmentReader): ChainConfig[] {
  const texts = env.list('SUPPORTED_CHAINS')
  if (texts.length === 0) {
    env.refuse('SUPPORTED_CHAINS', 'is missing: it must be the chain ids to serve, such as 1,8453')
    if (!env.hasAny(/^RPC_URL_[0-9]+(_FILE)?$/))
      env.refuse(
        'RPC_URL_<chainId>',
        'is missing: it must be the JSON-RPC endpoint, for each supported chain',
      )
    if (!env.hasAny(/^SERVICE_ADDRESS_[0-9]+$/))
      env.refuse(
        'SERVICE_ADDRESS_<chainId>',
        'is missing: it must be the settlement contract, for each supported chain',
      )
  }
  const chains: ChainConfig[] = []
  for (const text of texts) {
    const chainId = parseChainId(text)
    if (chainId === undefined) {
      env.refuse('SUPPORTED_CHAINS', `has "${text}": a chain id must be ${CHAIN_ID_TEXT}`)
    } else if (chains.some((chain) => chain.chainId === chainId)) {
      env.refuse('SUPPORTED_CHAINS', `has ${chainId} twice`)
    } else {
      chains.push(readChain(env, chainId))
    }
  }
  return chains
}

function readChain(env: EnvironmentReader, chainId: number): ChainConfig {
  const rpcVariable = `RPC_URL_${chainId}`
  const rpcUrls = env.list(rpcVariable)
  // A URL may have a key or a password, so the message does not contain it.
  for (const [index, url] of rpcUrls.entries()) {
    const problem = rpcUrlProblem(url)
    if (problem !== undefined) env.refuse(rpcVariable, `is wrong at position ${index + 1}: ${problem}`)
  }
  if (rpcUrls.length === 0) {
    env.refuse(rpcVariable, 'is missing: it must be http or ws URLs of JSON-RPC endpoints, comma-separated')
  }

  const addressVariable = `SERVICE_ADDRESS_${chainId}`
  const addressText = env.required(addressVariable, "the settlement contract's address")
  const settlement = parseAddress(addressText)
  if (addressText !== '' && settlement === undefined)
    env.refuse(addressVariable, `is "${addressText}": it ${ADDRESS.mustBe}`)
  else if (settlement !== undefined && !isChecksumValid(addressText))
    env.refuse(
      addressVariable,
      `is "${addressText}", whose checksum (EIP-55) is wrong: compare it with its source, or write it in lower case`,
    )
  const pollIntervalMs = env.optionalInteger(`POLL_INTERVAL_MS_${chainId}`, { min: 10, max: DAY_MS })
  const confirmations = env.optionalInteger(`CONFIRMATIONS_${chainId}`, { min: 0, max: 10_000 })
  const recheckBlocks = env.optionalInteger(`RECHECK_BLOCKS_${chainId}`, { min: 0, max: 1000 })
  return {
    chainId,
    rpcUrls,
    settlement: settlement ?? '0x',
    pollIntervalMs: pollIntervalMs ?? CHAIN_DEFAULTS.POLL_INTERVAL_MS,
    startBlock: env.optionalInteger(`START_BLOCK_${chainId}`, { min: 0, max: MAX_INTEGER }),
    confirmations: confirmations ?? CHAIN_DEFAULTS.CONFIRMATIONS,
    recheckBlocks: recheckBlocks ?? CHAIN_DEFAULTS.RECHECK_BLOCKS,
    destinationChains: readDestinationChains(env, chainId),
    ...readIdentity(env, chainId),
    tokenList: readTokenList(env, chainId),
  }
}

function readDestinationChains(env: EnvironmentReader, chainId: number): number[] {
  const variable = `DESTINATION_CHAINS_${chainId}`
  const isChainId = (text: string) => parseChainId(text) !== undefined
  const texts = env.checkedList(variable, isChainId, `a chain id, ${CHAIN_ID_TEXT}`)
  return [...new Set([chainId, ...texts.map(Number)])]
}

/**
 * Reads what people are told of the chain: its name, the URL of its block explorer without a slash at its end, and one of a node for
 * their wallets. Many chains have a known name and explorer.
 */
function readIdentity(env: EnvironmentReader, chainId: number) {
  const [knownName = `Chain ${chainId}`, knownUrl] = knownChains[chainId] ?? []
  const nameVariable = `CHAIN_NAME_${chainId}`
  const name = env.optional(nameVariable) ?? knownName
  if (!isDisplayName(name)) env.refuse(nameVariable, `is "${name}": it ${DISPLAY_NAME.mustBe}`)
  const explorerUrl = readPublicUrl(env, `EXPLORER_URL_${chainId}`) ?? knownUrl
  const publicRpcUrl = readPublicUrl(env, `PUBLIC_RPC_URL_${chainId}`)
  return { name, explorerUrl: explorerUrl?.replace(/\/+$/, ''), publicRpcUrl }
}

function readPublicUrl(env: EnvironmentReader, variable: string): string | undefined {
  const url = env.optional(variable)
  if (url !== undefined && !isPublicUrl(url))
    env.refuse(variable, `is "${url}": it must be an http or https URL without user, query and fragment`)
  return url
}

function isPublicUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/[?#@\s"'<>]/.test(text)
}

/** Returns the problem of an RPC URL, if any. Its user and password must be decodable, because requests send them decoded. */
function rpcUrlProblem(text: string): string | undefined {
  if (/[;|\s]\s*(https?|wss?):\/\//i.test(text)) return 'several URLs must be separated by commas'
  const [, port] = /^[a-z]+:\/\/[^/?#]*:([0-9]+)(?=[/?#]|$)/i.exec(text) ?? []
  if (port !== undefined && (Number(port) < 1 || Number(port) > MAX_PORT))
    return `its port must be 1 to ${MAX_PORT}`
  if (!URL.canParse(text)) return MUST_BE_URL
  const { protocol, username, password } = new URL(text)
  const isRpc = ['http:', 'https:', 'ws:', 'wss:'].includes(protocol) && isDecodable(username + password)
  return isRpc ? undefined : MUST_BE_URL
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
