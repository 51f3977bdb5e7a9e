import { distance } from 'fastest-levenshtein'
import type { Environment } from './environment.js'
import {
  CHAIN_DEFAULTS,
  CHAIN_VARIABLES,
  DEFAULTS,
  OPTIONAL_CHAIN_VARIABLES,
  OPTIONAL_VARIABLES,
} from './variables.js'

/** A variable that the service does not read, and the variable with a similar name that it reads. */
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
/** Longer names belong to other programs. */
const MAX_NAME_LENGTH = 64

/**
 * Finds set variables that the service does not read, and whose names are near misses of names that it reads. A near miss has
 * one or two wrong letters, another case, a missing first word, or a missing chain id. The address of a
 * contract under another name is one while SERVICE_ADDRESS_<chainId> is not set: other instances of the protocol name theirs so.
 * Such a variable may belong to another program.
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
    const isRead = known.includes(variable) || CHAIN_NAMES.includes(name)
    const isAddress = name.endsWith('_ADDRESS') && chainIds.includes(id)
    const address = isAddress && !environment[`SERVICE_ADDRESS_${id}`]?.trim() && `SERVICE_ADDRESS_${id}`
    const meant = isRead ? undefined : (meantBy(variable, known) ?? (address || undefined))
    return meant === undefined ? [] : [{ variable, meant }]
  })
}

/** Finds set variables of chains that the service does not serve. */
export function findUnserved(environment: Environment, chainIds: readonly number[]): readonly string[] {
  return Object.keys(environment).filter((variable) => {
    const [, name = '', id] = OF_CHAIN.exec(variable) ?? []
    return CHAIN_NAMES.includes(name) && !chainIds.includes(Number(id)) && environment[variable]?.trim()
  })
}

/** Describes a misspelt variable without its value, which may be secret. */
export function describeMisspelling({ meant }: Misspelling): string {
  return `is set, but the service does not read it: did you mean ${meant}?`
}

function meantBy(variable: string, known: readonly string[]): string | undefined {
  return withoutChainId(variable) ?? nearMiss(variable, known, lettersOff) ?? withoutBeginning(variable)
}

/** Returns how many letters of a name may be wrong. Short names are too similar to names of other programs. */
function lettersOff(name: string): number {
  if (name.length < 7) return 0
  return name.length < 9 ? 1 : 2
}

/** Finds the variable of a chain whose name lacks the chain id. */
function withoutChainId(variable: string): string | undefined {
  const name = nearMiss(variable, CHAIN_NAMES, () => 0)
  return name === undefined ? undefined : `${name}_<chainId>`
}

/** Finds the only name that ends with several words, such as DEFAULT_FILL_WINDOW for FILL_WINDOW. */
function withoutBeginning(variable: string): string | undefined {
  const [meant, another] = GLOBAL_NAMES.filter((name) => name.endsWith(`_${variable}`))
  return variable.includes('_') && another === undefined ? meant : undefined
}

/**
 * Finds the name in a list that is most similar to a name outside it. Letter case, `_` and `-` do not count.
 * @param maxDistance how many letters may be wrong, missing or too many in a name of the list
 * @returns undefined when no name is similar enough
 */
export function nearMiss(
  name: string,
  known: readonly string[],
  maxDistance: (knownName: string) => number,
): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, letters: distance(plain(name), plain(candidate)) }))
    .filter(({ candidate, letters }) => letters <= maxDistance(candidate))
  return near.sort((one, other) => one.letters - other.letters)[0]?.candidate
}

function plain(name: string): string {
  return name.toUpperCase().replace(/[_-]/g, '')
}
