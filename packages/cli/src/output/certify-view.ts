import type { CaseResult, CertifyReport, SignatureDetails } from '../certify/report.js'
import type { Display } from './print-result.js'
import { formatDuration, toJson } from './printable.js'

/** The report of `certify` for a person. */
export function renderReport(report: CertifyReport, { fields, mark }: Display): string {
  const { cases, notRun, domain, primaryType } = report
  const width = Math.max(0, ...cases.map(({ name }) => name.length))
  const lines = cases.map((result) => `${mark(result.status)}  ${toLine(result, width)}\n`)
  const signature = cases.find((result) => result.signature !== undefined)?.signature
  const parts = [
    fields([
      ['solver', report.solver],
      ['chain', String(report.chainId)],
      ['signs', `${primaryType} in the domain ${toJson(domain)}`],
    ]),
    lines.join(''),
  ]
  if (signature !== undefined) parts.push(renderSignature(signature, fields))
  if (notRun.length > 0) parts.push(`Not run: ${notRun.join(', ')}.\n`)
  parts.push(`${report.passed} passed, ${report.warned} with a warning, ${report.failed} failed.\n`)
  parts.push(
    'The quotes of this run, up to 200, stay open until their deposit deadlines, and count in your limits.\n',
  )
  return parts.filter((part) => part !== '').join('\n')
}

/** Name, time, and what was found. */
function toLine({ name, title, tookMs, text }: CaseResult, width: number): string {
  return `${name.padEnd(width)}  ${formatDuration(tookMs).padStart(7)}  ${title}: ${text}`
}

function renderSignature(signature: SignatureDetails, fields: Display['fields']): string {
  const { expectedSigner, recoveredSigner, primaryType, types, message, domain } = signature
  const members = types.map(({ type, name }) => `${type} ${name}`).join(',')
  return `The first wrong signature, and what it should be over:\n${fields([
    ['expected signer', expectedSigner],
    ['recovered', recoveredSigner ?? 'no address'],
    ['likely mistake', signature.likelyMistake],
    ['digest', signature.digest],
    ['struct hash', signature.structHash],
    ['domain', toJson(domain)],
    ['type', `${primaryType}(${members})`],
    ...types.map(({ name }): [string, string | undefined] => [`  ${name}`, message[name]]),
  ])}`
}
