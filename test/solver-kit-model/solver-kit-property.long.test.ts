import { describe, it } from 'vitest'
import { RULES } from '../support/chain/chain.js'
import { createRandom } from '../support/random.js'
import { rounds } from '../support/rounds.js'
import { playFreeRequests } from './free-requests.js'
import { createHistory } from './history.js'
import { registerAll } from './running-solver.js'

/** Half of them for each contract. `SOLVER_SEED` runs one. */
const SEEDS = rounds(200, 2)
const chosen = process.env.SOLVER_SEED
const seeds =
  chosen === undefined ? Array.from({ length: SEEDS / 2 }, (_, index) => index + 1) : [Number(chosen)]
/** Of these seeds, each finds what the requests of an attacker show. */
const FREE_SEEDS = rounds(25, 1)
const BLOCKS = 60
/** Until the fill deadlines of all have passed, and a solver that started last has ended them. */
const CALM_BLOCKS = 130

describe.each(RULES)('on the %s contract', (rules) => {
  it.each(seeds)(
    'a solver of the kit pays each order once, and loses no more bond than it may, seed %i',
    async (seed) => {
      registerAll()
      const history = createHistory(createRandom(seed), rules)
      try {
        await history.play(BLOCKS)
        await history.calmDown(CALM_BLOCKS)
      } catch (error) {
        const text = [...history.lines, ...history.errors().map(String), String(error)].join('\n')
        throw new Error(`${text}\nSOLVER_SEED=${seed}, ${rules} contract`, { cause: error })
      } finally {
        history.close()
      }
    },
  )

  it.each(seeds.slice(0, FREE_SEEDS))(
    'requests that nobody pays for cost a solver no bond, and no more than maxCancelFees in an hour, seed %i',
    async (seed) => {
      await playFreeRequests(createRandom(seed), rules, BLOCKS).catch((error) => {
        throw new Error(`${error}\nSOLVER_SEED=${seed}, ${rules} contract`, { cause: error })
      })
    },
  )
})
