/**
 * What reads the answers of calls that few pages make. It is one part: each alone would cost more to fetch
 * than what is in it.
 */
export {
  eventsOfSpeech,
  eventsOfTranscription,
  fileOfSpeech,
  spokenAnswer,
} from './audio/answers.ts';
export { modelAnswer, modelsAnswer } from './models/answers.ts';
export { routeAnswer } from './routes/answers.ts';
