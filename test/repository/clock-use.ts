import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDERS = [
  'src',
  'packages/protocol/src',
  'packages/chain/src',
  'packages/cli/src',
  'packages/client/src',
  'packages/solver/src',
]
const CLOCK = 'packages/protocol/src/clock.ts'
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

/** How often a text uses the time of this machine without a `Clock`. Comments do not count. */
export function countTimeUses(text: string): number {
  return text.replace(COMMENTS, '').match(TIME)?.length ?? 0
}

/** The number of uses for each file of the service, the command line, the client and the kit that has any; `packages/protocol/src/clock.ts` is the place for them. */
export function findTimeUses(): Record<string, number> {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path}`)
      .filter((file) => file.endsWith('.ts') && file !== CLOCK)
      .toSorted(),
  )
  const counts = files.map((file): [string, number] => [file, countTimeUses(readFileSync(file, 'utf8'))])
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

/** `npx tsx test/repository/clock-use.ts > test/repository/clock-use.json` writes the list. */
if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${JSON.stringify(findTimeUses(), undefined, 2)}\n`)
