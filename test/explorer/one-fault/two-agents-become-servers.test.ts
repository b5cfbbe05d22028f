import { withOneFault } from '../with-one-fault.ts'

withOneFault('two agents become servers')
