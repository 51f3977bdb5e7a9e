import { type Address, parseAddress } from '../../protocol/src/values/hex.js'
import { toUnits } from './arguments.js'
import type { Instance, InstanceFlags } from './called-instance.js'
import { badInput } from './command-failure.js'
import type { Listed } from './output/amounts.js'

/** A swap as a person writes it: tokens by address, or by the symbol of a listed one. */
export interface SwapFlags extends InstanceFlags {
  readonly chain: number
  readonly toChain?: number
  readonly sell?: string
  readonly buy?: string
  readonly amount?: string
  readonly exactOutput?: boolean
}

/**
 * Reads a swap, with the lists of listed tokens where they are needed (docs/decisions.md, D29).
 * @param more options that must be given as well
 * @throws CommandFailure
 */
export async function readSwap(
  { amounts }: Instance,
  { chain, toChain = chain, sell = '', buy = '', amount = '', exactOutput }: SwapFlags,
  more: Readonly<Record<string, unknown>>,
) {
  const given = Object.entries({ '--sell': sell, '--buy': buy, '--amount': amount, ...more })
  const missing = given.flatMap(([name, value]) => (value ? [] : [name]))
  if (missing.length > 0) throw badInput(`It needs ${missing.join(', ')} as well. --help has an example.`)
  const isPlain = [sell, buy].every((token) => parseAddress(token) !== undefined) && !amount.includes('.')
  const listOf = async (chainId: number) => (isPlain ? [] : amounts.listed(chainId))
  const input = resolve(sell, await listOf(chain), chain)
  const output = resolve(buy, await listOf(toChain), toChain)
  return {
    chainId: chain,
    inputToken: input.address,
    outputToken: output.address,
    orderType: exactOutput ? 'EXACT_OUTPUT' : 'EXACT_INPUT',
    amount: readUnits(amount, exactOutput ? output : input),
  } as const
}

const GIVE_ADDRESS = 'Give the address, and the amount in its smallest unit, a whole number.'

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
    throw badInput(`No listed token of chain ${chainId} has the symbol ${text}. ${GIVE_ADDRESS}`)
  if (other !== undefined)
    throw badInput(
      `Two listed tokens have the symbol ${text}: ${listed.address} and ${other.address}. ${GIVE_ADDRESS}`,
    )
  return { address: parseAddress(listed.address) ?? '0x', listed, isSymbol: true }
}

/** The amount in the token's smallest unit. */
function readUnits(text: string, { address, listed, isSymbol }: Resolved): bigint {
  const hasPoint = text.includes('.')
  if (hasPoint && listed === undefined)
    throw badInput(`--amount ${text} has a point, but ${address} is not a listed token. ${GIVE_ADDRESS}`)
  const decimals = listed !== undefined && (isSymbol || hasPoint) ? listed.decimals : 0
  const units = toUnits(text, decimals)
  if (units !== undefined) return units
  const token = listed?.symbol ?? address
  throw badInput(
    `--amount ${text} must have at most the ${decimals} decimals of ${token}, and be below 2^256 in smallest units.`,
  )
}
