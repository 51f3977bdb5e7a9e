/** The result of one check. */
export interface CheckResult {
  /** `warn` marks a risk. `fail` prevents the start or the work of the service. */
  readonly status: 'ok' | 'warn' | 'fail'
  /** The subject of the check, such as `RPC_URL_1 head`. */
  readonly check: string
  readonly checkResult: string
  /** What the operator can do. */
  readonly remedy?: string
}

/** The check results of one subject. */
export interface CheckResults {
  ok(check: string, checkResult: string): void
  warn(check: string, checkResult: string, remedy?: string): void
  fail(check: string, checkResult: string, remedy?: string): void
  readonly list: readonly CheckResult[]
}

/**
 * Collects the check results of one subject in their order.
 * @param subject prefix of each check's name, such as the variable that an operator would change
 */
export function collectResults(subject: string): CheckResults {
  const list: CheckResult[] = []
  const note =
    (status: CheckResult['status']) =>
    (check: string, checkResult: string, remedy?: string): void => {
      const name = [subject, check].filter((part) => part !== '').join(' ')
      list.push({ status, check: name, checkResult, ...(remedy === undefined ? {} : { remedy }) })
    }
  return { ok: note('ok'), warn: note('warn'), fail: note('fail'), list }
}
