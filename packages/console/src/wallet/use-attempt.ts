import { useState } from 'preact/hooks'
import { describeFailure, loadWallet } from './load.js'

type WalletCode = Awaited<ReturnType<typeof loadWallet>>

/** What a user can try with the wallet: whether it is under way, and why the last attempt has failed. */
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
  return { isBusy, problem, attempt }
}
