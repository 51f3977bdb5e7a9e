import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the npm package has the protos, and those of Google with their license', async () => {
  const files = readdirSync('proto', { recursive: true, encoding: 'utf8' })
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const packed = JSON.parse(stdout)[0].files.map(({ path }: { path: string }) => path)
  const protos = files.filter((path) => path.endsWith('.proto')).map((path) => `proto/${path}`)
  expect(packed).toEqual(expect.arrayContaining([...protos, 'proto/google/LICENSE']))
})
