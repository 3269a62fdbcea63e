# What rms::val.prob, pROC::ci.auc and a restricted cubic spline of the log-odds say of the rows in this folder.
# Rscript val_prob.R, in this folder, writes numbers.csv and curves.csv.
suppressMessages({library(rms); library(pROC)})

versions <- paste(R.version.string, paste("rms", packageVersion("rms")), paste("Hmisc", packageVersion("Hmisc")),
                  paste("pROC", packageVersion("pROC")), sep = "; ")
numbers <- curves <- NULL
for (name in c("over_confident", "rare", "small")) {
  rows <- read.csv(paste0(name, ".csv"))
  y <- rows$y
  p <- rows$p
  stats <- val.prob(p, y, pl = FALSE)
  area <- ci.auc(roc(y, p, quiet = TRUE, direction = "<"), method = "delong")
  logit <- qlogis(p)
  fit <- lrm(y ~ rcs(logit, 5), x = TRUE, eps = 1e-10, maxit = 50)
  knots <- fit$Design$parms$logit
  eci <- 100 * mean((p - plogis(fit$linear.predictors))^2)
  found <- c(stats[names(stats) != "D:p"], AUC.low = area[1], AUC = area[2], AUC.high = area[3], ECI = eci,
             setNames(knots, paste0("knot", 1:5)))
  numbers <- rbind(numbers, data.frame(rows = name, quantity = names(found), value = signif(found, 12)))
  at <- seq(min(p), max(p), length.out = 21)
  spline <- predict(fit, data.frame(logit = qlogis(at)), se.fit = TRUE)
  smooth <- approx(lowess(p, y, iter = 0), xout = at, ties = mean)$y
  along <- data.frame(p = at, log_odds = spline$linear.predictors, error = spline$se.fit, lowess = smooth)
  curves <- rbind(curves, data.frame(rows = name, signif(along, 12)))
}
write <- function(frame, file) {
  writeLines(paste("#", versions), file)
  suppressWarnings(write.table(frame, file, append = TRUE, sep = ",", row.names = FALSE, quote = FALSE))
}
write(numbers, "numbers.csv")
write(curves, "curves.csv")
