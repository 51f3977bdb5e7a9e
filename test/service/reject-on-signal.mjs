/** Loaded before the service in its process: SIGUSR2 makes a rejection there that nobody handles. */
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('nobody caught this'))
})
