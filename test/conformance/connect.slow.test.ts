import { describe, expect, it } from 'vitest'
import { between } from '../support/between.js'
import { shared } from '../support/shared.js'
import { play } from './connect/client.js'
import { expectedOf } from './connect/expected.js'
import { startConformanceServer } from './connect/server.js'
import { readCases } from './connect/suites.js'
import { viewOf } from './connect/view.js'

/** The folder `internal/app/connectconformance/testsuites/data` of a clone of the Connect project's conformance tests. */
const folder = process.env.CONFORMANCE_DATA
/** As many of them as apply to this server; another version may have more. */
const CASES = 892
/** How much less than the caller's deadline the server may see. */
const GRACE_MS = 500

describe.skipIf(!folder)('Connect (needs CONFORMANCE_DATA)', async () => {
  const cases = folder ? readCases(folder) : []
  const server = await shared(startConformanceServer())

  it('has all cases of the version that this was written for', () => {
    expect(cases).toHaveLength(CASES)
  })

  it.concurrent.for(cases)('$name', async (testCase, { expect }) => {
    const { error, ...expected } = viewOf(expectedOf(testCase), (ms) => between(ms - GRACE_MS, ms))
    const codes = [error?.code, ...testCase.otherAllowedErrorCodes]
    expect(viewOf(await play(testCase, server.url))).toMatchObject({
      ...expected,
      error: error && { ...error, code: expect.toBeOneOf(codes) },
    })
  })
})
