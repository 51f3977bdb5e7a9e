import type { Environment } from '../environment.js'
import {
  CHAIN_DEFAULTS,
  CHAIN_VARIABLES,
  DEFAULTS,
  OPTIONAL_CHAIN_VARIABLES,
  OPTIONAL_VARIABLES,
} from '../variables.js'
import { nearMiss } from './near-miss.js'

/** A variable that the service does not read, and the one whose name it nearly has. */
export interface Misspelling {
  readonly variable: string
  readonly meant: string
}

const GLOBAL_NAMES: readonly string[] = [...Object.keys(DEFAULTS), ...OPTIONAL_VARIABLES]
const CHAIN_NAMES: readonly string[] = [
  ...CHAIN_VARIABLES,
  ...OPTIONAL_CHAIN_VARIABLES,
  ...Object.keys(CHAIN_DEFAULTS),
]
const OF_CHAIN = /^(.+)_([0-9]+)$/
const UNIT = /_(MS|SECONDS|MINUTES|HOURS|DAYS|MB|GB|BYTES)$/
/** Names of other programs are longer than any of ours. */
const MAX_NAME_LENGTH = 64

/**
 * Finds variables that are set, that the service does not read, and whose names are near misses of names that it reads:
 * a wrong letter or two, another case, a missing or another unit, a missing chain id, a wrong digit in it. They may belong to other programs.
 */
export function findMisspellings(environment: Environment): readonly Misspelling[] {
  const chainIds = (environment.SUPPORTED_CHAINS ?? '').split(',').map((text) => text.trim())
  const ofChains = chainIds
    .filter((id) => /^[0-9]+$/.test(id))
    .flatMap((id) => CHAIN_NAMES.map((name) => `${name}_${id}`))
  const known = [...GLOBAL_NAMES, ...ofChains]
  return Object.keys(environment).flatMap((variable) => {
    if (!environment[variable]?.trim() || variable.length > MAX_NAME_LENGTH) return []
    const [, name = '', id = ''] = OF_CHAIN.exec(variable) ?? []
    const isOfChain = CHAIN_NAMES.includes(name)
    const others = chainIds.filter((chainId) => !environment[`${name}_${chainId}`]?.trim())
    const meantId = isOfChain && !chainIds.includes(id) ? nearMiss(id, others, digitsOff) : undefined
    if (meantId !== undefined) return [{ variable, meant: `${name}_${meantId}` }]
    const isRead = known.includes(variable) || isOfChain
    const meant = isRead ? undefined : meantBy(variable, known)
    return meant === undefined ? [] : [{ variable, meant }]
  })
}

/** Says what is wrong with a misspelt variable, without its value, which may be secret. */
export function describeMisspelling({ meant }: Misspelling): string {
  return `is set, but the service does not read it: did you mean ${meant}?`
}

function meantBy(variable: string, known: readonly string[]): string | undefined {
  return withoutChainId(variable) ?? nearMiss(variable, known, lettersOff) ?? withoutUnit(variable)
}

/** Short names are too near to those of others. */
function lettersOff(name: string): number {
  if (name.length < 7) return 0
  return name.length < 9 ? 1 : 2
}

/** Short chain ids are near to those of other chains, whose variables may be set without being served. */
function digitsOff(chainId: string): number {
  return chainId.length < 4 ? 0 : 1
}

/** A variable of a chain whose chain id is left out. */
function withoutChainId(variable: string): string | undefined {
  const name = nearMiss(variable, CHAIN_NAMES, () => 0)
  return name === undefined ? undefined : `${name}_<chainId>`
}

/** A name whose unit is left out, or another one. */
function withoutUnit(variable: string): string | undefined {
  return GLOBAL_NAMES.find((name) => name.replace(UNIT, '') === variable.replace(UNIT, ''))
}
