import type { ListedToken } from '@quote-aggregator/client'
import { MAX_UINT256 } from '../domain/field-rules.js'
import { type Address, parseAddress } from '../domain/values/hex.js'
import { toChecksumAddress } from '../signing/checksum.js'
import { EXIT } from './exit-codes.js'
import { CommandFailure } from './failure.js'
import { callInstance, type InstanceFlags } from './instance.js'
import type { CliIo } from './io.js'

/** A swap as a person writes it: tokens by address, or by the symbol of a listed one. */
export interface SwapFlags extends InstanceFlags {
  readonly chain: number
  readonly toChain?: number
  readonly sell: string
  readonly buy: string
  readonly amount: string
  readonly exactOutput?: boolean
}

/** An amount for a person: `1.5 WETH` for a listed token. For any other in smallest units: `15`, or `15 of 0x…` with the address. */
export type FormatAmount = (side: 'sells' | 'buys', amount: bigint, form?: 'with address') => string

/** For the help of commands with a swap. */
export const SWAP_HELP = `
Tokens are addresses, or symbols of tokens that the operator of the instance has listed. The amount of a symbol is in the token: 1.5.
The amount of an address is a whole number in the token's smallest unit: 1000000 is 1 of a token with 6 decimals.`

type Listed = ListedToken & { readonly symbol: string; readonly decimals: number }

/** Decimals of ERC-20 have 8 bits. An instance may say anything. */
const MAX_DECIMALS = 255
const SHOWN_TIMEOUT_MS = 2000

/**
 * Reads a swap, with the lists of listed tokens where they are needed (docs/decisions.md, D29).
 * @throws CommandFailure
 */
export async function readSwap(io: CliIo, flags: SwapFlags) {
  const { chain, toChain = chain, sell, buy, amount, exactOutput } = flags
  const isPlain = [sell, buy].every((token) => parseAddress(token) !== undefined) && !amount.includes('.')
  const listOf = async (chainId: number) => {
    if (!isPlain) return readListed(io, flags, chainId)
    // Only to show amounts: an instance without lists of tokens answers as well.
    return flags.json ? [] : readListed(io, flags, chainId, SHOWN_TIMEOUT_MS).catch(() => [])
  }
  const origin = await listOf(chain)
  const destination = toChain === chain ? origin : await listOf(toChain)
  const [input, output] = [resolve(sell, origin, chain), resolve(buy, destination, toChain)]
  const { formatUnits } = await import('viem')
  const format: FormatAmount = (side, value, form) => {
    const { address, listed } = side === 'sells' ? input : output
    if (listed !== undefined) return `${formatUnits(value, listed.decimals)} ${listed.symbol}`
    return form === undefined ? `${value}` : `${value} of ${toChecksumAddress(address)}`
  }
  const fixed = exactOutput ? output : input
  return { inputToken: input.address, outputToken: output.address, amount: readUnits(amount, fixed), format }
}

/** The tokens of the operator's list. */
async function readListed(
  io: CliIo,
  flags: InstanceFlags,
  chainId: number,
  timeoutMs?: number,
): Promise<Listed[]> {
  const calling = { signal: io.interruption(), timeoutMs }
  const tokens = await callInstance(io, flags, (client) => client.listTokens(chainId, calling))
  return tokens.flatMap(({ symbol, decimals, ...token }) =>
    token.listed && symbol !== undefined && decimals !== undefined && decimals <= MAX_DECIMALS
      ? [{ ...token, symbol, decimals }]
      : [],
  )
}

interface Resolved {
  readonly address: Address
  readonly listed: Listed | undefined
  readonly isSymbol: boolean
}

function resolve(text: string, tokens: readonly Listed[], chainId: number): Resolved {
  const address = parseAddress(text)
  if (address !== undefined) {
    const listed = tokens.find((token) => parseAddress(token.address) === address)
    return { address, listed, isSymbol: false }
  }
  const [listed, other] = tokens.filter(({ symbol }) => symbol === text)
  if (listed === undefined)
    throw refusal(
      `No listed token of chain ${chainId} has the symbol ${text}. For a token that is not listed, give its address, and the amount in its smallest unit.`,
    )
  if (other !== undefined)
    throw refusal(
      `Two listed tokens have the symbol ${text}: ${listed.address} and ${other.address}. Give the address, and the amount in its smallest unit.`,
    )
  return { address: parseAddress(listed.address) ?? '0x', listed, isSymbol: true }
}

/** The amount in the token's smallest unit. */
function readUnits(text: string, { address, listed, isSymbol }: Resolved): bigint {
  const [whole = '', fraction] = text.split('.')
  if (fraction !== undefined && listed === undefined)
    throw refusal(
      `--amount ${text} has a point, but ${address} is not a listed token: give the amount in its smallest unit, a whole number.`,
    )
  const decimals = listed !== undefined && (isSymbol || fraction !== undefined) ? listed.decimals : 0
  if ((fraction?.length ?? 0) > decimals)
    throw refusal(`--amount ${text} has more than the ${decimals} decimals of ${listed?.symbol}.`)
  const units = BigInt(whole + (fraction ?? '').padEnd(decimals, '0'))
  if (units === 0n || units > MAX_UINT256)
    throw refusal(`--amount ${text} must be above 0 and below 2^256 smallest units.`)
  return units
}

function refusal(message: string): CommandFailure {
  return new CommandFailure(EXIT.badInput, message)
}
