import type { Address } from 'viem'
import { UINT32 } from '../../../protocol/src/field-rules.js'
import {
  addressProblem,
  type Checks,
  chainIdProblem,
  check,
  objectProblem,
  optionProblem,
  type Problem,
  textProblem,
} from './check-arguments.js'

/** The checks of the parameters of a page. */
export const PAGE_PROBLEMS = {
  pageSize: (value: unknown) => optionProblem(UINT32, value),
  pageToken: textProblem,
}

/** The path of a method of a chain. @throws AggregatorError INVALID_ARGUMENT with all that is wrong, also of `checks` */
export function chainPath(chainId: number, method: string, checks: Checks = {}): string {
  check({ chainId: chainIdProblem(chainId), ...checks })
  return `/v1/${chainId}/${method}`
}

/** The path of a method of a solver. @throws AggregatorError INVALID_ARGUMENT */
export function solverPath(chainId: number, solver: Address, method = ''): string {
  return chainPath(chainId, `solvers/${solver}${method}`, { address: addressProblem(solver) })
}

/**
 * Checks the parameters that are given. With a misspelt key, an answer would have what nobody asked for.
 * @throws AggregatorError INVALID_ARGUMENT
 */
export function checkParams(params: object, problems: Readonly<Record<string, Problem>>): void {
  check({ params: objectProblem(params) })
  const problemOf = (key: string, value: unknown) =>
    Object.hasOwn(problems, key)
      ? problems[key]?.(value)
      : `is not a parameter: the parameters are ${Object.keys(problems).join(', ')}`
  check(Object.fromEntries(givenIn(params).map(([key, value]) => [key, problemOf(key, value)])))
}

/** Makes the query of a request with its `?`; empty without parameters. A list has each value under its name in the singular. */
export function toQuery(params: object): string {
  const query = new URLSearchParams()
  for (const [key, value] of givenIn(params))
    for (const item of [value].flat()) query.append(Array.isArray(value) ? key.slice(0, -1) : key, `${item}`)
  return `${query}` && `?${query}`
}

/** What is undefined is left out. */
function givenIn(params: object): [key: string, value: unknown][] {
  return Object.entries(params).filter(([, value]) => value !== undefined)
}
