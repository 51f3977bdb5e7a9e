import { useState } from 'preact/hooks'
import { describeFailure, loadWallet, type WalletCode } from './load.js'

/** What a user can try with the wallet: whether it is under way, and the complaint of the last attempt that has failed. */
export function useAttempt() {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')
  const attempt = async (task: (code: WalletCode) => Promise<void>) => {
    setBusy(true)
    setProblem('')
    try {
      await task(await loadWallet())
    } catch (error) {
      setProblem(await describeFailure(error))
    }
    setBusy(false)
  }
  const complaint = problem !== '' && (
    <p class="form-problem" role="alert">
      {problem}
    </p>
  )
  return { isBusy, complaint, attempt }
}
