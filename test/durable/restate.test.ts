import { testRecipe } from './recipe.ts';
import { startRestate } from './engines/restate/server.ts';

testRecipe('restate', startRestate);
