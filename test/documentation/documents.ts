import { readdirSync } from 'node:fs'

/** The documents whose examples are run, relative to the root. */
export const WITH_EXAMPLES = [
  'README.md',
  'packages/client/README.md',
  'packages/solver/README.md',
  ...filesIn('docs', /\.md$/),
]

/** The documents whose links are checked. */
export const DOCUMENTS = [
  ...WITH_EXAMPLES,
  'BENCHMARKS.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...filesIn('examples', /^[^/]+\/README\.md$/),
]

/** Files that name documents in their text. */
export const DEPLOYMENT_FILES = filesIn('deploy', /./)

function filesIn(folder: string, wanted: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`)
    .filter((path) => wanted.test(path.slice(folder.length + 1)))
}
