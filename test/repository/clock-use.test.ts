import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDERS = [
  'src',
  ...['protocol', 'chain', 'cli', 'client', 'solver'].map((name) => `packages/${name}/src`),
]
const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
/** What reads the time of this machine, or waits for it. A method of another object, as of a `Clock`, has a dot before it. */
const TIME = new RegExp(
  [
    /(?<![.\w])(?:(?:globalThis|window)\.)?set(?:Timeout|Interval)\(/,
    /\bDate\.now\b/,
    /\bperformance\.now\b/,
    /\bnew Date\(\)/,
    /\bprocess\.(?:hrtime|uptime)\b/,
    /\bAbortSignal\.timeout\b/,
    /^import \{[^}]*\b(?:setTimeout|setInterval|scheduler)\b[^}]*\} from '(?:node:)?timers(?:\/promises)?'/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
)

test('each file uses the time of this machine as often as clock-use.json says: new code takes a Clock, and a number there only falls', () => {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  ).filter((file) => file.endsWith('.ts') && file !== 'packages/protocol/src/clock.ts')
  const counts = files.map(
    (file) => [file, readFileSync(file, 'utf8').replace(COMMENTS, '').match(TIME)?.length ?? 0] as const,
  )
  const listed = JSON.parse(readFileSync('test/repository/clock-use.json', 'utf8'))
  expect(Object.fromEntries(counts.filter(([, count]) => count > 0))).toEqual(listed)
})
