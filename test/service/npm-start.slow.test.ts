import { expect, it } from 'vitest'
import { startProcess } from '../support/process/process.js'
import { MISSING } from '../support/service/missing-variables.js'

it('npm start without variables builds, says all that is missing, points to the demo, and exits with 1', async () => {
  const start = startProcess('npm', ['start'], {})
  expect(await start.exited).toBe(1)
  for (const text of MISSING) expect(start.output()).toContain(text)
})
