import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Collects all garbage, also what only ended callbacks hold. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await turn()
    collect()
  }
}
