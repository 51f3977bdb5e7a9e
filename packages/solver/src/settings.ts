import { isAddress, maxUint256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { LONGEST_TIMER_MS } from '../../client/src/calls/retry-delay.js'
import { BYTES32, MAX_PORT, PROTOCOL_NAME } from '../../protocol/src/field-rules.js'
import { isDisplayName } from '../../protocol/src/values/display-name.js'
import { endpointUrlProblem } from '../../protocol/src/values/endpoint-url.js'
import type { ChainOptions, SolverOptions } from './solver-options.js'

/** The options that are told of everything that changes money (docs/decisions.md, D32). */
export const HOOKS = [
  'onQuoted',
  'onDeposit',
  'onDepositRemoved',
  'onFilled',
  'onMissed',
  'onCancelled',
  'onTransaction',
] as const
/** All options that are told something, but for `onError`. */
export const CALLBACKS = [...HOOKS, 'onSession', 'onResult'] as const

const LOG_METHODS = ['debug', 'info', 'warn', 'error']
const SIGNING_METHODS = ['signMessage', 'signTypedData', 'signTransaction']
const MAX_UINT32 = 2 ** 32 - 1
/** Nodes keep the state of 128 blocks as a rule. */
const MAX_CONFIRMATIONS = 120

const FUNCTION = z.custom((value) => typeof value === 'function', 'must be a function')
const CALLBACK = FUNCTION.optional()
const COUNT = z.int().min(1).max(MAX_UINT32)
const MILLISECONDS = z.int().min(1).max(LONGEST_TIMER_MS)
const SHARE = z.number().min(0).max(1)
const UNITS = z.bigint().min(0n).max(maxUint256)
const WEI = UNITS.min(1n)
const TEXT = z.string().min(1)
/** Letters of both cases must be those of EIP-55. */
const ADDRESS = z
  .string()
  .refine((text) => isAddress(text), 'must be a 20-byte address in hex with 0x, with a right checksum')
const TOKEN = z.union(
  [ADDRESS, z.object({ address: ADDRESS, allowance: UNITS })],
  'must be an address with a right checksum, or { address, allowance } with a bigint',
)
const URL_OF_NODE = z.url({ protocol: /^(http|ws)s?$/, error: 'must be an http or ws URL' })
const URL_OF_INSTANCE = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

const CHAIN = z.strictObject({
  rpc: z.union([URL_OF_NODE, FUNCTION], 'must be an http or ws URL, or a transport of viem'),
  // The contract may take the tokens.
  settlement: ADDRESS,
  tokens: z.array(TOKEN).min(1),
  pollIntervalMs: MILLISECONDS.default(1_000),
  /** Two epochs of Ethereum. Nodes keep the state of twice as many blocks. */
  confirmations: z.int().min(0).max(MAX_CONFIRMATIONS).default(64),
  raiseFeesAfterMs: MILLISECONDS.default(15_000),
  maxFeePerGas: WEI.optional(),
  /** More than twice what `settle` needs. */
  maxGas: WEI.default(1_000_000n),
  /** Ethereum's nodes keep this many transactions of an account for sure. */
  maxPayments: COUNT.default(16),
  cancelAbove: UNITS.default(0n),
  maxCancelFees: WEI.default(5n * 10n ** 16n),
} satisfies Record<keyof ChainOptions, z.ZodType>)

/** With what a market maker allows when it says nothing (docs/decisions.md, D23). */
const OPTIONS = z.strictObject({
  account: z.custom(
    (value) => isPrivateKey(value) || (isAddress(Object(value).address) && hasAll(value, SIGNING_METHODS)),
    `must be a private key of 32 bytes in hex with 0x, or an account with address, ${SIGNING_METHODS.join(', ')}`,
  ),
  name: z.string().refine(isDisplayName, 'must have 1 to 64 visible characters'),
  aggregatorUrl: z.union(
    [URL_OF_INSTANCE, z.array(URL_OF_INSTANCE).min(1)],
    'must be an http or https URL, or a list of at least one',
  ),
  protocolName: z.string().regex(PROTOCOL_NAME.pattern, PROTOCOL_NAME.mustBe).default('Service'),
  chains: z
    .record(z.coerce.number().pipe(z.int().min(1)), CHAIN, {
      error: ({ code }) => (code === 'invalid_key' ? 'must be the id of a chain' : undefined),
    })
    .refine((chains) => Object.keys(chains).length > 0, 'must have at least one chain'),
  quote: FUNCTION,
  mayFill: CALLBACK,
  acceptLess: CALLBACK,
  endpointUrl: z
    .string()
    .refine((url) => endpointUrlProblem(url) === undefined, {
      error: ({ input }) => endpointUrlProblem(String(input)),
    })
    .optional(),
  stateFile: TEXT.optional(),
  overcommit: z.number().min(1).default(1),
  maxBondShare: SHARE.gt(0).default(0.1),
  maxOpenBond: SHARE.gt(0).default(0.5),
  maxAddressBondShare: SHARE.default(0.05),
  minFillSeconds: COUNT.default(60),
  maxLockSeconds: COUNT.default(3_600),
  metricsPort: z.int().min(1).max(MAX_PORT).optional(),
  metricsHost: TEXT.default('127.0.0.1'),
  log: z
    .custom((value) => hasAll(value, LOG_METHODS), `must have the functions ${LOG_METHODS.join(', ')}`)
    .optional(),
  onError: CALLBACK,
  ...(Object.fromEntries(CALLBACKS.map((name) => [name, CALLBACK])) as Record<
    (typeof CALLBACKS)[number],
    typeof CALLBACK
  >),
} satisfies Record<keyof SolverOptions, z.ZodType>)

/** Options, of which those are there that have a default. */
type Filled<O, S> = O & {
  readonly [Name in keyof O & keyof S as undefined extends S[Name] ? never : Name]-?: Exclude<
    O[Name],
    undefined
  >
}
/** The options of a chain, with the defaults. */
export type ChainSettings = Filled<ChainOptions, z.output<typeof CHAIN>>
/** The options of a solver, with the defaults. */
export type Settings = Filled<Omit<SolverOptions, 'chains'>, z.output<typeof OPTIONS>> & {
  readonly chains: Readonly<Record<number, ChainSettings>>
}

/**
 * Reads options, with the defaults of those that were left out. It checks what a program without types may get wrong: a wrong limit or
 * a misspelt option would otherwise show only when it costs money.
 * @throws Error that names each wrong option and what it must be
 */
export function readOptions(options: SolverOptions): Settings {
  const { data, error } = OPTIONS.safeParse(options)
  if (error !== undefined)
    throw new Error(`the options of the solver are not valid:\n${z.prettifyError(error)}`)
  return data as unknown as Settings
}

function isPrivateKey(value: unknown): boolean {
  try {
    return BYTES32.pattern.test(String(value)) && privateKeyToAccount(value as `0x${string}`) !== undefined
  } catch {
    return false
  }
}

/** Whether a value has all these functions. */
function hasAll(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof Object(value)[name] === 'function')
}
