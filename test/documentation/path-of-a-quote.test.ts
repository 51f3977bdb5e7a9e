import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startScene } from '../support/service/scene.js'

/** Work that is put off may run within one round, and hardly within all. */
const ROUNDS = 6
/** By this the test runner reads what a file exports. */
const EXPORT = /^\(\) ?=> ?\{ ?try ?\{ ?return \w+ ?\}/
const OWN = /(?<=\/)(?:src|packages\/\w+\/src)\/[\w/-]+\.ts$/

// The chain is read while it is started, and in no round.
const environment = { POLL_INTERVAL_MS_31337: '600000' }
const { ask } = await startScene({ solvers: ['Ada', 'Bob'], environment })

/** Counts the calls of functions. @returns the files of this project of which one ran since the last time */
async function countCalls() {
  const session = new Session()
  session.connect()
  onTestFinished(() => session.disconnect())
  await session.post('Debugger.enable')
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return async () => {
    const paths: string[] = []
    const { result } = await session.post('Profiler.takePreciseCoverage')
    for (const { scriptId, url, functions } of result) {
      const [path] = OWN.exec(url) ?? []
      if (path === undefined) continue
      const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId })
      const ran = functions.flatMap(({ ranges: [range] }) =>
        range?.count ? scriptSource.slice(range.startOffset, range.endOffset) : [],
      )
      if (ran.some((text) => !EXPORT.test(text))) paths.push(path)
    }
    return paths
  }
}

test('the page of a quote names the files that a quote enters, at most 45', async () => {
  const entered = await countCalls()
  const rounds: string[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    await entered()
    expect((await ask()).status).toBe(200)
    rounds.push(await entered())
  }
  const always = rounds[0]?.filter((path) => rounds.every((files) => files.includes(path))) ?? []
  const page = readFileSync('docs/path-of-a-quote.md', 'utf8')
  const named = [...page.matchAll(/`((?:src|packages\/\w+\/src)\/[\w/-]+\.ts)`/g)].map(
    ([, path = '']) => path,
  )
  expect(always.toSorted()).toEqual(named.toSorted())
  expect(always.length).toBeLessThanOrEqual(45)
})
