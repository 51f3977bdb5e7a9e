/** Loaded into the service's process: SIGUSR2 causes an unhandled rejection there. */
process.on('SIGUSR2', () => {
  void Promise.reject(new Error('nobody caught this'))
})
